"""The other ends of a stdio transport in its tests: programs, a receiver that writes down, processes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from actors.errors import McpConnectionLost
from actors.mcp.config import McpTimeouts, StdioServer
from actors.mcp.jsonrpc import Answer, Incoming, answer_bytes
from actors.mcp.process_group import group_runs
from actors.mcp.stdio import StdioTransport
from actors.mcp.transport import Outgoing

on_both_loops = pytest.mark.parametrize("loop", ["asyncio", "uvloop"])

PROGRAMS = Path(__file__).with_name("programs")
PATIENCE_S = 20.0
QUICK = McpTimeouts(shutdown=0.3)
_POLL_S = 0.01


def run(loop: str, work: Coroutine[Any, Any, None]) -> None:
    """Run it on a loop of that kind."""
    make_loop = pytest.importorskip("uvloop").new_event_loop if loop == "uvloop" else None
    with asyncio.Runner(loop_factory=make_loop) as runner:
        runner.run(work)


def program(name: str, *args: str) -> StdioServer:
    """One of `programs`."""
    return StdioServer(sys.executable, (str(PROGRAMS / f"{name}.py"), *args))


def message(number: int, result: object = "hi") -> Outgoing:
    """Something a server can say again."""
    return Outgoing(answer_bytes(number, result))


class Recorder:
    """A receiver that writes down; its waits have a deadline."""

    def __init__(self) -> None:
        self.losses: list[McpConnectionLost] = []
        self.messages: asyncio.Queue[Incoming] = asyncio.Queue()
        self._lost = asyncio.Event()

    def received(self, message: Incoming) -> None:
        """Keep it."""
        assert not self.losses, "nothing is received after the end"
        self.messages.put_nowait(message)

    def lost(self, error: McpConnectionLost) -> None:
        """Keep it."""
        self.losses.append(error)
        self._lost.set()

    async def next(self) -> Incoming:
        """The next message."""
        async with asyncio.timeout(PATIENCE_S):
            return await self.messages.get()

    async def next_result(self) -> Any:
        """The result in the next message, which is an answer."""
        got = await self.next()
        assert isinstance(got, Answer), got
        return got.result

    async def loss(self) -> McpConnectionLost:
        """How the connection was lost."""
        async with asyncio.timeout(PATIENCE_S):
            await self._lost.wait()
        return self.losses[0]


class Connection:
    """An open transport, its name `x`, and its recorder; closed at the end of the block."""

    def __init__(self, server: StdioServer, timeouts: McpTimeouts = QUICK) -> None:
        self.transport = StdioTransport("x", server, timeouts)
        self.recorder = Recorder()

    @property
    def pid(self) -> int:
        """The number of the server's process."""
        assert self.transport.pid is not None
        return self.transport.pid

    async def __aenter__(self) -> Connection:
        await self.transport.open(self.recorder)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.transport.aclose()
        assert not group_runs(self.pid)


def is_running(pid: int) -> bool:
    """Whether a process is there and has not ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in ("Z", "X")


async def become(fact: Callable[[], bool]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(PATIENCE_S):
        while not fact():
            await asyncio.sleep(_POLL_S)
