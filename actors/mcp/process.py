"""`ServerProcess`: one life of a program that is an MCP server, with all it has started.

    process = ServerProcess("files", server, shutdown_s=2.0, output=feed, lost=tell)
    await process.start()
    await process.write(b"...\\n")
    await process.stop()

Promises: nothing is left of a server whose `start` failed or was cancelled, or whose `stop` returned, and
nothing of one whose owner was killed (see `actors.mcp.warden`); starting and stopping are bounded in time
and not broken off by a cancel. Its standard error is always read. Bytes it wrote are handed to `output` in
order, by the event loop itself, with no task between; `lost` is told once, after the last of them (see
`actors.mcp.process_life`), and neither is called once `stop` was.

Works on asyncio's loop and on uvloop, in any thread; all methods run on the loop that ran `start`.
"""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import PIPE
from collections.abc import Callable
from typing import cast

import structlog

from actors.errors import InvalidArgument, McpConnectionLost
from actors.mcp.config import StdioServer
from actors.mcp.process_command import Launch, launch_of
from actors.mcp.process_group import end_group, group_runs, signal_group
from actors.mcp.process_life import STDIN, Listeners, ProcessLife
from actors.mcp.stdio_log import ServerLog
from actors.mcp.warden import Warden
from actors.to_the_end import to_the_end

_CLOSING_S = 1.0

_log = structlog.get_logger(__name__)


class ServerProcess:
    """See the module. `shutdown_s`: see `McpTimeouts.shutdown`. `lost` gets the end of a sentence."""

    def __init__(
        self,
        name: str,
        server: StdioServer,
        *,
        shutdown_s: float,
        output: Callable[[bytes], None],
        lost: Callable[[str], None],
    ) -> None:
        self._name = name
        self._server = server
        self._shutdown_s = shutdown_s
        self._stderr = ServerLog(name)
        self._life = ProcessLife(
            Listeners(self._guard, output, self._stderr.feed, self._let_go, lost)
        )
        self._transport: asyncio.SubprocessTransport | None = None
        self._input: asyncio.WriteTransport | None = None
        self._warden: Warden | None = None
        self._pid: int | None = None
        self._used = False
        self._changing = asyncio.Lock()
        self._writing = asyncio.Lock()

    @property
    def pid(self) -> int | None:
        """The number of the process, and of its group; None before it is started."""
        return self._pid

    def last_words(self) -> str:
        """What it wrote to standard error last: `; it said last: ...`, or ''."""
        return self._stderr.said()

    # -- start ------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Start the program; whether it works shows later.

        Raises:
            McpConnectionLost: it cannot be started; says why and what to do. `sent` is false.
            InvalidArgument: it was started or stopped before.
        """
        if self._used:
            raise InvalidArgument("a ServerProcess lives once; make a new one to start again")
        self._used = True
        launch = launch_of(self._name, self._server, os.environ)
        started = False
        try:
            await to_the_end(self._spawn(launch))
            started = True
        finally:
            if not started:
                await self.stop()

    async def _spawn(self, launch: Launch) -> None:
        async with self._changing:
            self._warden = self._started_warden()
            loop = asyncio.get_running_loop()
            try:
                self._transport, _ = await loop.subprocess_exec(
                    lambda: self._life,
                    launch.program,
                    *launch.args,
                    stdin=PIPE,
                    stdout=PIPE,
                    stderr=PIPE,
                    env=launch.env,
                    cwd=launch.directory,
                    start_new_session=True,
                )
            except (
                OSError,
                ValueError,
                RuntimeError,
            ) as exc:  # the last: uvloop's loops race to fork
                raise McpConnectionLost(
                    f"server {self._name!r}: {launch.program!r} cannot be started: {exc}"
                ) from exc
            pipe = self._transport.get_pipe_transport(STDIN)
            self._input = cast(asyncio.WriteTransport, pipe)  # uvloop's is one by its methods only

    def _started_warden(self) -> Warden | None:
        try:
            return Warden.start(self._shutdown_s)
        except OSError as error:
            _log.warning(
                "a server has no warden, it may outlive this process if that is killed",
                server=self._name,
                error=str(error),
            )
            return None

    def _guard(self, pid: int) -> None:
        self._pid = pid
        if self._warden is not None:
            self._warden.guard(pid)

    # -- write ------------------------------------------------------------------------------------

    async def write(self, data: bytes) -> None:
        """Hand all of `data` to the stream; waits only while the server does not read what was written before.

        Concurrent writers take turns. Cancelled while it waits, nothing of `data` is written.

        Raises:
            McpConnectionLost: the process has ended or closed its input; nothing was written.
        """
        if self._life.writable.is_set() and not self._writing.locked():
            self._write(data)
            return
        async with self._writing:
            await self._life.writable.wait()
            self._write(data)

    def _write(self, data: bytes) -> None:
        if self._input is None or not self._life.takes_input:
            raise McpConnectionLost(
                f"server {self._name!r} can be sent nothing any more, start a new one{self.last_words()}"
            )
        self._input.write(data)

    # -- stop -------------------------------------------------------------------------------------

    async def stop(self) -> None:
        """End the process and its group, and wait until they are gone. May be repeated.

        Its input is closed; what is left `shutdown_s` later gets SIGTERM, and SIGKILL as much later. What
        outlives the process itself gets SIGTERM and SIGKILL in the same way. Cancelling it does not break
        it off.
        """
        self._used = True
        self._life.mute()
        await to_the_end(self._stop())

    async def _stop(self) -> None:
        async with self._changing:
            transport, self._transport = self._transport, None
            if transport is not None:
                await self._end_process()
                await self._end_group()
                await self._close(transport)
            warden, self._warden = self._warden, None
            if warden is not None:
                await warden.aclose()

    async def _end_process(self) -> None:
        assert self._input is not None
        assert self._pid is not None
        self._input.close()
        for number in (signal.SIGTERM, signal.SIGKILL):
            if await _is_set_within(self._life.exited, self._shutdown_s):
                return
            signal_group(self._pid, number)
        await _is_set_within(self._life.exited, self._shutdown_s)

    async def _end_group(self) -> None:
        assert self._pid is not None
        if not await end_group(self._pid, self._shutdown_s):
            _log.error("processes of a server do not end", server=self._name, group=self._pid)

    async def _close(self, transport: asyncio.SubprocessTransport) -> None:
        """Give the pipes back; what is unread in them is lost."""
        assert self._input is not None
        if self._input.get_write_buffer_size():
            self._input.abort()  # it was closed, but that waits until all is read
        try:
            transport.close()
        except ProcessLookupError:
            pass  # uvloop kills what has not ended; that has ended by now
        if not await _is_set_within(self._life.closed, _CLOSING_S):
            _log.error("a server's pipes do not close", server=self._name, group=self._pid)

    def _let_go(self) -> None:
        """The process has ended. If its group has, its number may soon be another's."""
        if self._warden is not None and self._pid is not None and not group_runs(self._pid):
            self._warden.let_go()


async def _is_set_within(event: asyncio.Event, limit_s: float) -> bool:
    try:
        async with asyncio.timeout(limit_s):
            await event.wait()
    except TimeoutError:
        return False
    return True
