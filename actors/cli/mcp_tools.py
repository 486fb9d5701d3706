"""`greenroom mcp tools`: what a server offers, and what an agent would make of it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from actors.cli.exit_code import ExitCode
from actors.cli.mcp_connecting import connected, on_own_loop, tools_of
from actors.cli.mcp_target import McpTarget, add_target_options, target_of
from actors.cli.mcp_verdict import Verdict, verdicts
from actors.model.toolspec import ToolParameter
from actors.output.console import Console
from actors.output.json_text import compact_json, indented_json
from actors.tools.policy import ToolPolicy

_LONGEST_LINE = 100


def add_tools_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `greenroom mcp tools` to the command line."""
    parser = subparsers.add_parser(
        "tools",
        usage="greenroom mcp tools ID [options]",
        help="list the tools of a server",
        description="Connect to a server and list its tools. A * marks what has to be given.",
    )
    parser.add_argument("id", nargs="?", metavar="ID", help="a server of the files")
    parser.add_argument("--json", action="store_true", help="print the server's own list")
    add_target_options(parser)


def list_tools(args: argparse.Namespace) -> ExitCode:
    """Print the tools of a server.

    Raises:
        InvalidArgument, MCPRegistryError: no server is named so.
        McpError: it cannot be reached, or does not list its tools.
    """
    target = target_of(args, args.id)
    tools = on_own_loop(_listed(target))
    out = Console(sys.stdout)
    if args.json:
        out.write(indented_json(tools) + "\n")
        return ExitCode.ANSWERED
    if not tools:
        Console(sys.stderr).write(f"server {target.name!r} lists no tools\n")
    for verdict in verdicts(target.name, tools):
        for line in _lines(verdict, out):
            out.write(f"{line}\n")
    return ExitCode.ANSWERED


async def _listed(target: McpTarget) -> list[dict[str, Any]]:
    async with connected(target) as session:
        return await tools_of(session, target)


def _lines(verdict: Verdict, console: Console) -> Iterator[str]:
    listed = verdict.listed
    described = _one_line(listed.get("description") or listed.get("title"))
    yield console.paint(verdict.name, "bold") + console.clean(f": {described}" * bool(described))
    if verdict.tool is None:
        yield f"    left out     {console.clean(verdict.problem)}"
        return
    parameters = ", ".join(map(_parameter, verdict.tool.spec.parameters))
    yield f"    parameters   {console.clean(parameters) or 'none'}"
    yield f"    annotations  {console.clean(_annotations(listed)) or 'none'}"
    asked = "allow" if verdict.tool.policy == ToolPolicy.ALLOW else "ask"
    yield f"    gate         {asked}"
    yield f"    exposed as   {verdict.tool.name}"


def _parameter(parameter: ToolParameter) -> str:
    mark = "*" if parameter.required else ""
    return f"{' '.join(parameter.name.split())}{mark} ({parameter.type})"


def _annotations(listed: Mapping[str, Any]) -> str:
    found = listed.get("annotations")
    if not isinstance(found, dict):
        return ""
    return _one_line(", ".join(f"{key}={compact_json(value)}" for key, value in found.items()))


def _one_line(text: Any) -> str:
    """A text of the server on one line, cut short; '' for what is no text."""
    line = " ".join(text.split()) if isinstance(text, str) else ""
    return line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 3]}..."
