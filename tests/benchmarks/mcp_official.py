"""A program: the official MCP SDK as one subject of `mcp_calls`. Prints its figures as one JSON object.

    latency N WARM URL|COMMAND...     microseconds of each tools/call, one after another
    memory N COMMAND...               KiB of this process per open session

Run with the interpreter of the servers' environment, the only one that has the SDK, and with nothing of
ours: the figures are the SDK's alone.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any


def own_kib() -> int:
    """What this process holds of its own, garbage not counted.

    Not its share of what programs have in common: that changes with each program that is started.
    """
    gc.collect()
    for line in Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines():
        if line.startswith("Anonymous:"):
            return int(line.split()[1])
    raise LookupError("Anonymous is not in /proc/self/smaps_rollup")


def client_of(command: list[str]) -> Any:
    """A client of a program, or of an address. Legacy, as the trivial server is; an address by its best."""
    from mcp import (  # type: ignore[import-not-found]  # noqa: PLC0415
        Client,
        StdioServerParameters,
    )

    if command[0].startswith("http"):
        return Client(command[0])
    return Client(StdioServerParameters(command=command[0], args=command[1:]), mode="legacy")


async def latency(calls: int, warm: int, command: list[str]) -> list[float]:
    """Microseconds of each call."""
    taken: list[float] = []
    async with client_of(command) as client:
        tool, argument = echo_of([tool.name for tool in (await client.list_tools()).tools], command)
        for number in range(warm + calls):
            began = time.perf_counter()
            await client.call_tool(tool, {argument: "hi"})
            if number >= warm:
                taken.append((time.perf_counter() - began) * 1e6)
    return taken


def echo_of(names: list[str], command: list[str]) -> tuple[str, str]:
    """The name of the tool that gives a text back, and of its argument."""
    assert "echo" in names, (names, command)
    return "echo", "message" if "get-tiny-image" in names else "text"


async def memory(sessions: int, command: list[str]) -> float:
    """KiB a session adds; the first one, which loads what all need, is open already."""
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(client_of(command))
        before = own_kib()
        for _ in range(sessions):
            client = await stack.enter_async_context(client_of(command))
            await client.list_tools()
        return (own_kib() - before) / sessions


def main(arguments: list[str]) -> Any:
    """What the arguments ask for."""
    match arguments:
        case ["latency", calls, warm, *command]:
            return asyncio.run(latency(int(calls), int(warm), command))
        case ["memory", sessions, *command]:
            return asyncio.run(memory(int(sessions), command))
    raise SystemExit(f"expected latency or memory, got {arguments}")


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1:])))
