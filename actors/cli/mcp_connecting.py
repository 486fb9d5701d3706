"""A session with an MCP server for the time of one command, without any actor.

It ends in order whatever ends the command: a cancelled call is told to the server, and a server that is a
program is gone, with all it started, before the command is.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from types import FrameType
from typing import Any, TypeVar

from actors.cli.mcp_target import McpTarget
from actors.cli.termination import Terminated
from actors.errors import McpRefused, McpTimeout
from actors.mcp.jsonrpc import METHOD_NOT_FOUND
from actors.mcp.session import McpSession
from actors.mcp.transports import new_transport

T = TypeVar("T")


def on_own_loop(work: Coroutine[Any, Any, T]) -> T:
    """What `work` gives, run on a loop of its own; Ctrl-C and SIGTERM cancel it first.

    Raises:
        KeyboardInterrupt, Terminated: a signal came, and `work` has ended.
    """
    return asyncio.run(_until_terminated(work))  # which does as much for Ctrl-C


async def _until_terminated(work: Coroutine[Any, Any, T]) -> T:
    """An exception raised by a signal handler in the midst of a loop is lost there, or leaves it half-way."""
    before = signal.getsignal(signal.SIGTERM)
    in_main = threading.current_thread() is threading.main_thread()
    if before is signal.SIG_IGN or not in_main:
        return await work
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    came = False

    def terminate(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  as it is called
        nonlocal came
        came = True
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        loop.call_soon_threadsafe(task.cancel)

    signal.signal(signal.SIGTERM, terminate)
    try:
        return await work
    except asyncio.CancelledError:
        if came:
            raise Terminated from None
        raise
    finally:
        if not came:
            signal.signal(signal.SIGTERM, before)


@asynccontextmanager
async def connected(target: McpTarget) -> AsyncIterator[McpSession]:
    """An open session, closed at the end of the block.

    Raises:
        McpError: the server cannot be reached, or is not ready in time.
    """
    session = McpSession(
        target.name, target.config, lambda: new_transport(target.name, target.config)
    )
    await session.open()
    try:
        yield session
    finally:
        try:
            # A call that was cancelled just now is told to the server in the next round of the loop.
            await asyncio.sleep(0)
        finally:
            await session.aclose()


async def tools_of(session: McpSession, target: McpTarget) -> list[dict[str, Any]]:
    """The tools the server lists, within `handshake` seconds; none if it knows of no tools.

    Raises:
        McpError: it did not list them.
    """
    limit = target.config.timeouts.handshake
    try:
        async with asyncio.timeout(limit):
            return await session.list_tools()
    except McpRefused as error:
        if error.code != METHOD_NOT_FOUND:
            raise
        return []
    except TimeoutError as error:
        raise McpTimeout(
            f"server {target.name!r} did not list its tools within {limit:g} s"
        ) from error
