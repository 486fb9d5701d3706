"""`greenroom mcp call`: one call of one tool, as an agent would make it, without an agent or a gate."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct

from actors.cli.exit_code import ExitCode
from actors.cli.mcp_connecting import connected, on_own_loop, tools_of
from actors.cli.mcp_target import McpTarget, add_target_options, target_of
from actors.cli.options import text_from
from actors.errors import InvalidArgument
from actors.mcp.progress import Progress
from actors.mcp.results import read_result, tool_output
from actors.output.console import Console
from actors.output.json_text import indented_json

_SHOWN_NAMES = 50
_SHOWN_CHARS = 50


class _Call(Struct, frozen=True):
    target: McpTarget
    tool: str
    arguments: dict[str, Any]


def add_call_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `greenroom mcp call` to the command line."""
    parser = subparsers.add_parser(
        "call",
        usage="greenroom mcp call ID TOOL [JSON] [options]\n"
        "       greenroom mcp call TOOL [JSON] --command CMD | --url URL [options]",
        help="call a tool of a server",
        description="Call a tool and print its result. Nobody is asked about it.",
    )
    parser.add_argument(
        "words",
        nargs="+",
        metavar="ID TOOL JSON",
        help="a server of the files; its tool; the arguments, an object (- reads it from stdin)",
    )
    parser.add_argument(
        "--json", action="store_true", help="print the result as the server gave it"
    )
    add_target_options(parser)


def call_tool(args: argparse.Namespace) -> ExitCode:
    """Call the tool; NO_ANSWER, and its text on standard error, if it says that it failed.

    Raises:
        InvalidArgument, MCPRegistryError: no server or tool is named so, or the arguments are no object.
        McpError: there is no result.
    """
    call = _call_of(args)
    status = Console(sys.stderr)

    def show(news: Progress) -> None:
        status.show_status(_progress_line(call.tool, news))

    try:
        result = on_own_loop(_called(call, show))
    finally:
        status.clear_status()
    return _printed(call.target.name, result, as_json=args.json)


def _call_of(args: argparse.Namespace) -> _Call:
    words: list[str] = args.words
    by_id = args.program is None and args.url is None
    expected = "ID TOOL [JSON]" if by_id else "TOOL [JSON]"
    least = 2 if by_id else 1
    if not least <= len(words) <= least + 1:
        raise InvalidArgument(
            f"greenroom mcp call expects {expected}, got {len(words)} words; "
            "put the JSON in quotes, and options first or last"
        )
    target = target_of(args, words[0] if by_id else None)
    tool, *rest = words[least - 1 :]
    return _Call(target, text_from(tool), _arguments(rest[0]) if rest else {})


def _arguments(text: str) -> dict[str, Any]:
    given = sys.stdin.read() if text == "-" else text_from(text)
    try:
        value = msgspec.json.decode(given)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise InvalidArgument(f"the arguments are no JSON: {error}; got {_start(given)}") from error
    if not isinstance(value, dict):
        raise InvalidArgument(f"the arguments must be a JSON object, got {_start(given)}")
    return value


def _start(text: str) -> str:
    return repr(text) if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]!r}..."


async def _called(call: _Call, on_progress: Callable[[Progress], None]) -> Any:
    async with connected(call.target) as session:
        # The list is looked at first: modern HTTP needs it, and an unknown name is told better here.
        names = [str(each.get("name")) for each in await tools_of(session, call.target)]
        if call.tool not in names:
            more = f" and {len(names) - _SHOWN_NAMES} more" * (len(names) > _SHOWN_NAMES)
            raise InvalidArgument(
                f"server {call.target.name!r} lists no tool {call.tool!r}; it lists "
                f"{', '.join(names[:_SHOWN_NAMES]) or 'none'}{more}"
            )
        return await session.call_tool(call.tool, call.arguments, on_progress=on_progress)


def _progress_line(tool: str, news: Progress) -> str:
    total = "" if news.total is None else f" of {news.total:g}"
    return f"{tool}: {news.progress:g}{total} {news.message}".rstrip()


def _printed(server: str, result: Any, *, as_json: bool) -> ExitCode:
    out, errors = Console(sys.stdout), Console(sys.stderr)
    read = read_result(f"server {server!r}", result)
    shown = tool_output(result)
    if as_json:
        out.write(indented_json(result) + "\n")
    elif not read.is_error:
        blocks = shown if isinstance(shown, list) and read.structured is None else [shown]
        for block in blocks:
            out.write(out.clean(_as_text(block)) + "\n")
    if read.is_error:
        errors.write(errors.clean(str(shown["error"])) + "\n")
    return ExitCode.NO_ANSWER if read.is_error else ExitCode.ANSWERED


def _as_text(block: Any) -> str:
    """Text as it is, everything else as JSON; bytes are only counted."""
    match block:
        case str():
            return block
        case {"type": "text", "text": str(text)}:
            return text
    return indented_json(block)
