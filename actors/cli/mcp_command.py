"""`greenroom mcp list|tools|call|doctor|serve`: MCP servers, tried without an agent; and being one."""

from __future__ import annotations

import argparse

from actors.cli.mcp_call import add_call_parser, call_tool
from actors.cli.mcp_doctor import add_doctor_parser, doctor
from actors.cli.mcp_list import add_list_parser, list_servers
from actors.cli.mcp_serve import add_serve_parser, serve
from actors.cli.mcp_tools import add_tools_parser, list_tools


def add_mcp_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `greenroom mcp` and its commands to the command line."""
    parser = subparsers.add_parser(
        "mcp",
        usage="greenroom mcp list|tools|call|doctor|serve [options]",
        help="list MCP servers, look at them, call their tools; or be one",
        description="MCP servers: those of the files, a program (--command), or an address (--url).",
    )
    commands = parser.add_subparsers(
        prog="greenroom mcp", dest="mcp_command_name", metavar="COMMAND", required=True
    )
    add_list_parser(commands)
    add_tools_parser(commands)
    add_call_parser(commands)
    add_doctor_parser(commands)
    add_serve_parser(commands)


def run_mcp(args: argparse.Namespace) -> int:
    """Run one of them.

    Raises:
        InvalidArgument, MCPRegistryError: the command line or a file is wrong.
        McpError: the server failed.
    """
    match args.mcp_command_name:
        case "list":
            return list_servers(args)
        case "tools":
            return list_tools(args)
        case "call":
            return call_tool(args)
        case "serve":
            return serve(args)
        case _:
            return doctor(args)
