"""`greenroom mcp doctor`: whether configured servers start, what they speak, which tools an agent would get."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence

from actors.cli.doctor import report
from actors.cli.exit_code import ExitCode
from actors.cli.finding import Finding
from actors.cli.mcp_connecting import connected, on_own_loop, tools_of
from actors.cli.mcp_target import (
    McpTarget,
    add_target_options,
    entry_config,
    registry_of,
    target_of,
    within,
)
from actors.cli.mcp_verdict import verdicts
from actors.errors import InvalidArgument, McpError, MCPRegistryError
from actors.mcp.config import StdioServer
from actors.mcp.process_command import launch_of
from actors.mcp.revisions import Agreed
from actors.model.redaction import shown_url
from actors.output.console import Console

AT_ONCE = 8
"""Most servers that are asked at the same time, so that starting many makes none of them late."""

_SHOWN_LEFT_OUT = 10


def add_doctor_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `greenroom mcp doctor` to the command line."""
    parser = subparsers.add_parser(
        "doctor",
        usage="greenroom mcp doctor [ID ...] [options]",
        help="tell which servers work, and what is wrong with the others",
        description="Start or reach each server, all of them without an ID, and tell how it went.",
    )
    parser.add_argument("ids", nargs="*", metavar="ID", help="servers of the files")
    add_target_options(parser)


def doctor(args: argparse.Namespace) -> ExitCode:
    """Print what was found, by id. NO_ANSWER if a server does not work.

    Each server takes at most twice its handshake's limit, and the time to end it.

    Raises:
        InvalidArgument: the options do not go together, or cannot be read.
        MCPRegistryError: there is no file, or no such id.
    """
    found = _targets(args)
    status = Console(sys.stderr)
    status.show_status(f"asking {len(found)} server(s) ...")
    try:
        findings = on_own_loop(_all_checked(found))
    finally:
        status.clear_status()
    return report(findings, Console(sys.stdout))


def _targets(args: argparse.Namespace) -> list[McpTarget | Finding]:
    """The servers to ask, and what there is to say of those that cannot be asked."""
    if args.program is not None or args.url is not None:
        if args.ids:
            raise InvalidArgument("expected IDs, or --command or --url, not both")
        return [target_of(args, None)]
    registry = registry_of(args.config)
    known = registry.list_servers()
    targets: list[McpTarget | Finding] = []
    for server_id in set(args.ids).difference(known):
        registry.require(server_id)  # says what there is
    for server_id in sorted(set(args.ids)) or known:
        if registry.is_disabled(server_id):
            targets.append(Finding("note", f"{server_id}: disabled"))
            continue
        try:
            target = McpTarget(server_id, entry_config(registry, server_id))
        except MCPRegistryError as error:
            targets.append(Finding("problem", f"{server_id}: {error}"))
        else:
            targets.append(within(target, args.timeout))
    return targets


async def _all_checked(targets: Sequence[McpTarget | Finding]) -> list[Finding]:
    """What is found of each, in their order."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(target: McpTarget | Finding) -> list[Finding]:
        if isinstance(target, Finding):
            return [target]
        async with turns:
            return await checked(target)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(target)) for target in targets]
    return [finding for task in tasks for finding in task.result()]


async def checked(target: McpTarget) -> list[Finding]:
    """What is found of one server, the last finding says whether it works."""
    findings: list[Finding] = []
    loop = asyncio.get_running_loop()
    try:
        findings.append(Finding("ok", f"{target.name}: {_place(target)}"))
        began = loop.time()
        async with connected(target) as session:
            tools = await tools_of(session, target)
            ready_ms = (loop.time() - began) * 1000
            agreed = session.agreed
    except McpError as error:
        return [*findings, Finding("problem", str(error))]
    left_out = [each for each in verdicts(target.name, tools) if each.tool is None]
    findings.append(
        Finding(
            "ok",
            f"{target.name}: ready after {ready_ms:.0f} ms, speaks {_spoken(agreed)}, "
            f"{len(tools)} tool(s), {len(left_out)} of them left out",
        )
    )
    findings += [
        Finding("note", f"{target.name}: a tool is left out: {each.problem}")
        for each in left_out[:_SHOWN_LEFT_OUT]
    ]
    more = len(left_out) - _SHOWN_LEFT_OUT
    if more > 0:
        findings.append(Finding("note", f"{target.name}: {more} more are left out"))
    return findings


def _place(target: McpTarget) -> str:
    """Where the server is. Raises McpConnectionLost if its command is not there."""
    server = target.config.server
    if isinstance(server, StdioServer):
        return f"runs {launch_of(target.name, server, os.environ).program}"
    return f"at {shown_url(server.url)}"


def _spoken(agreed: Agreed) -> str:
    era = "legacy" if agreed.legacy else "modern"
    name = " ".join(str(agreed.server.get(key, "")) for key in ("name", "version")).split()
    return f"{agreed.revision} ({era})" + f", is {' '.join(name)}" * bool(name)
