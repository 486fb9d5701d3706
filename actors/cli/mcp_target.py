"""Which MCP server a command line means: one of the files of MCP servers, a program, or an address.

    greenroom mcp tools files                             an id of the files
    greenroom mcp tools --command "mcp-server-time"       a program, split into words, never by a shell
    greenroom mcp tools --url http://127.0.0.1:8000/mcp   an address

From options to values; reads the files, starts nothing.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import shlex
from collections.abc import Container, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from actors.errors import InvalidArgument, MCPRegistryError
from actors.mcp.config import McpServerConfig, StdioServer
from actors.mcp.registry import MCPRegistry
from actors.mcp.registry_entry import read_entry
from actors.mcp.registry_file import file_exists

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")


class McpTarget(Struct, frozen=True):
    """A server, and what it is called in messages and before the names of its tools."""

    name: str
    config: McpServerConfig


def add_target_options(parser: argparse.ArgumentParser) -> None:
    """Add the ways to name a server, and how long to wait for it."""
    add = parser.add_argument
    add("--command", dest="program", metavar="CMD", help="a program and its arguments, no ID")
    add("--url", metavar="URL", help="an address (Streamable HTTP), no ID")
    add_config_option(parser, "--config")
    add(
        "--timeout", type=_seconds, metavar="S", help="seconds to wait (default 30, or its entry's)"
    )
    add("--debug", action="store_true", help="show logs, the server's too, and tracebacks")


def add_config_option(parser: argparse.ArgumentParser, name: str) -> None:
    """Add the option that replaces the usual files."""
    parser.add_argument(
        name, action="append", metavar="FILE", help="file of MCP servers; may be repeated"
    )


def registry_of(files: Sequence[str] | None) -> MCPRegistry:
    """The servers of `files`, the last one wins; of the usual files if there are none.

    Raises:
        MCPRegistryError: one of `files` is not there.
    """
    for file in files or ():
        if not file_exists(Path(file)):
            raise MCPRegistryError(f"there is no file of MCP servers at {file!r}; mend the path")
    return MCPRegistry(files or None)


def entry_config(registry: MCPRegistry, server_id: str) -> McpServerConfig:
    """As `registry.require`, with the reason alone in the error: for lists, where file and id stand around it.

    Raises:
        MCPRegistryError: the entry cannot be used.
    """
    return read_entry(registry.entry(server_id), os.environ)


def target_of(args: argparse.Namespace, server_id: str | None) -> McpTarget:
    """The one server that an id, `--command` or `--url` names.

    Raises:
        InvalidArgument: none or more than one of them is given, or it cannot be read.
        MCPRegistryError: there is no such id, or its entry cannot be used.
    """
    given = [each for each in (server_id, args.program, args.url) if each is not None]
    if len(given) != 1:
        raise InvalidArgument(
            f"expected one server, by its ID or by --command or --url, got {len(given)} of them"
        )
    if args.program is not None:
        server = program_of("--command", args.program)
        target = McpTarget(name_of(server.command), McpServerConfig(server))
    elif args.url is not None:
        target = _at_address(args.url)
    else:
        target = McpTarget(given[0], registry_of(args.config).require(given[0]))
    return within(target, args.timeout)


def within(target: McpTarget, seconds: float | None) -> McpTarget:
    """The target with other limits; None leaves them."""
    if seconds is None:
        return target
    limits = target.config.timeouts
    limits = replace(limits, handshake=seconds, call=seconds, probe=min(limits.probe, seconds / 2))
    return McpTarget(target.name, replace(target.config, timeouts=limits))


def program_of(option: str, command: str) -> StdioServer:
    """The program that the text of an option names.

    Raises:
        InvalidArgument: there is no word in it, or a quote is not closed.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InvalidArgument(
            f"{option} {command!r} cannot be split into words: {str(error).lower()}"
        ) from error
    if not words or not words[0]:
        raise InvalidArgument(f"{option} is empty; expected a program and its arguments")
    return StdioServer(words[0], tuple(words[1:]))


def name_of(command: str, taken: Container[str] = ()) -> str:
    """A name for a program: that of its file, with `_` for what names of tools cannot have.

    One that is `taken` gets a number: `server-2`.
    """
    plain = _NOT_IN_NAMES.sub("_", Path(command).name).strip("_") or "server"
    name, number = plain, 1
    while name in taken:
        number += 1
        name = f"{plain}-{number}"
    return name


def _at_address(url: str) -> McpTarget:
    """Placeholders in it are replaced, as in an entry: a token need not stand on the command line."""
    try:
        config = read_entry({"type": "http", "url": url}, os.environ)
        return McpTarget(name_of(urlsplit(url).hostname or ""), config)
    except MCPRegistryError as error:
        raise InvalidArgument(f"--url: {error}") from error


# -- servers of an agent ----------------------------------------------------------------------------


def add_server_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that give an agent servers."""
    add = parser.add_argument
    add("--mcp", action="append", metavar="ID", help="use this MCP server; may be repeated")
    add("--mcp-command", action="append", metavar="CMD", help="a program as one; may be repeated")
    add_config_option(parser, "--mcp-config")


def servers_of(args: argparse.Namespace) -> dict[str, McpServerConfig]:
    """The servers the options give an agent, by name, in order.

    Raises:
        InvalidArgument: `--mcp-command` cannot be read.
        MCPRegistryError: there is no such id, or its entry cannot be used.
    """
    servers: dict[str, McpServerConfig] = {}
    if args.mcp:
        registry = registry_of(args.mcp_config)
        servers = {server_id: registry.require(server_id) for server_id in args.mcp}
    elif args.mcp_config:
        raise InvalidArgument("--mcp-config goes with --mcp, which names the servers to use")
    for command in args.mcp_command or ():
        server = program_of("--mcp-command", command)
        servers[name_of(server.command, servers)] = McpServerConfig(server)
    return servers


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not (seconds > 0 and math.isfinite(seconds)):
        raise argparse.ArgumentTypeError(f"expected a number of seconds above 0, got {text!r}")
    return seconds
