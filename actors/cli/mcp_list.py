"""`greenroom mcp list`: the configured servers and whether they can be used; starts none of them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from actors.cli.exit_code import ExitCode
from actors.cli.mcp_target import add_config_option, entry_config, registry_of
from actors.errors import MCPRegistryError
from actors.mcp.config import HttpServer
from actors.mcp.registry import MCPRegistry
from actors.mcp.registry_file import default_paths, file_exists
from actors.model.redaction import shown_url
from actors.output.console import Console


def add_list_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `greenroom mcp list` to the command line."""
    parser = subparsers.add_parser(
        "list",
        usage="greenroom mcp list [--config FILE]",
        help="the configured servers; nothing is started",
        description="List the servers of the files, and whether their entries can be used.",
    )
    add_config_option(parser, "--config")
    parser.add_argument("--debug", action="store_true", help="show tracebacks")


def list_servers(args: argparse.Namespace) -> ExitCode:
    """Print a line for each server, and the files.

    Raises:
        MCPRegistryError: there is no file, or one cannot be read.
    """
    out = Console(sys.stdout)
    registry = registry_of(args.config)
    states = {server_id: state_of(registry, server_id) for server_id in registry.list_servers()}
    wide = max(map(len, states), default=0)
    for server_id, state in states.items():
        out.write(out.clean(f"{server_id:{wide}}  {state}") + "\n")
    if not states:
        out.write("no servers are configured\n")
    paths = [Path(file) for file in args.config or ()] or default_paths()
    out.write("\n")
    for path in paths:
        out.write(f"{'read' if file_exists(path) else 'not there'}: {path}\n")
    return ExitCode.ANSWERED


def state_of(registry: MCPRegistry, server_id: str) -> str:
    """What a server is, or why it cannot be used, on one line."""
    if registry.is_disabled(server_id):
        return "disabled"
    try:
        server = entry_config(registry, server_id).server
    except MCPRegistryError as error:
        return f"unusable: {' '.join(str(error).split())}"
    if isinstance(server, HttpServer):
        return f"address  {shown_url(server.url)}"
    return f"program  {server.command}"
