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
import subprocess
from collections.abc import Callable
from functools import partial
from typing import NoReturn

import structlog

from actors.errors import InvalidArgument, McpConnectionLost
from actors.mcp.config import StdioServer
from actors.mcp.process_command import Launch, launch_of
from actors.mcp.process_exit import ExitWatch
from actors.mcp.process_group import end_group, signal_group
from actors.mcp.process_life import STDERR, STDIN, STDOUT, Listeners, Pipe, ProcessLife
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
        self._life = ProcessLife(Listeners(output, self._stderr.feed, lost))
        self._child: subprocess.Popen[bytes] | None = None
        self._pid: int | None = None
        self._warden: Warden | None = None
        self._watch: ExitWatch | None = None
        self._input: asyncio.WriteTransport | None = None
        self._outputs: list[asyncio.ReadTransport] = []
        self._used = False
        self._condemned = False
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
            self._child = child = self._started_child(launch)
            self._pid = child.pid
            if self._warden is not None:
                self._warden.guard(child.pid)
            try:
                await self._connect(child)
            except OSError as exc:
                raise McpConnectionLost(
                    f"server {self._name!r}: its pipes cannot be watched: {exc}"
                ) from exc
            finally:  # last: a process that has ended already is heard to its end, too
                self._watch = ExitWatch(child.pid, self._life.has_exited)

    async def _connect(self, child: subprocess.Popen[bytes]) -> None:
        loop, life = asyncio.get_running_loop(), self._life
        for which, stream in ((STDOUT, child.stdout), (STDERR, child.stderr)):
            reading, _ = await loop.connect_read_pipe(partial(Pipe, which, life), stream)
            self._outputs.append(reading)
        self._input, _ = await loop.connect_write_pipe(partial(Pipe, STDIN, life), child.stdin)

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

    def _started_child(self, launch: Launch) -> subprocess.Popen[bytes]:
        """Not by the loop's own `subprocess_exec`.

        uvloop's leaves the server a second descriptor of each pipe, so that one it closes is never at its
        end; both tell the number of the process late, which the warden waits for.
        """
        try:
            return subprocess.Popen(  # noqa: S603  executing what the user configured is what it is for
                [launch.program, *launch.args],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=launch.env,
                cwd=launch.directory,
                start_new_session=True,
            )
        except (OSError, ValueError) as exc:
            raise McpConnectionLost(
                f"server {self._name!r}: {launch.program!r} cannot be started: {exc}"
            ) from exc

    # -- write ------------------------------------------------------------------------------------

    async def write(self, data: bytes) -> None:
        """Hand all of `data` to the stream; waits only while the server does not read what was written before.

        Concurrent writers take turns. Cancelled while it waits, nothing of `data` is written.

        Raises:
            McpConnectionLost: the process has ended or closed its input; nothing was written. `lost` has been
                told by then, so that whoever tries again does not meet the same end.
        """
        if not self._life.writable.is_set() or self._writing.locked():
            async with self._writing:
                await self._life.writable.wait()
        if self._input is None or not self._life.takes_input:
            await self._refuse()
        else:
            self._input.write(data)

    async def _refuse(self) -> NoReturn:
        if self._input is not None:
            await self._life.over.wait()
        how = self._life.how or "can be sent nothing any more, start a new one"
        raise McpConnectionLost(f"server {self._name!r} {how}{self.last_words()}")

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
            child, self._child = self._child, None
            if child is not None:
                await self._end_process(child.pid)
                self._wait_for(child)
                if not await end_group(child.pid, self._shutdown_s):
                    _log.error("a server does not end", server=self._name, group=child.pid)
                await self._close_pipes(child)
            warden, self._warden = self._warden, None
            if warden is not None:
                await warden.aclose()

    def condemn(self) -> None:
        """It hangs: `stop` will not wait for it to end by itself, nor ask it to."""
        self._condemned = True

    async def _end_process(self, pid: int) -> None:
        if self._input is not None:
            self._input.close()
        if self._condemned:
            signal_group(pid, signal.SIGKILL)
        for number in (signal.SIGTERM, signal.SIGKILL):
            if await _is_set_within(self._life.exited, self._shutdown_s):
                return
            signal_group(pid, number)
        await _is_set_within(self._life.exited, self._shutdown_s)

    async def _close_pipes(self, child: subprocess.Popen[bytes]) -> None:
        """Give the pipes back; what is unread in them is lost."""
        if self._input is not None and self._input.get_write_buffer_size():
            self._input.abort()  # it was closed, but that waits until all is read
        for output in self._outputs:
            output.close()
        if not await _is_set_within(self._life.closed, _CLOSING_S):
            _log.error("a server's pipes do not close", server=self._name, group=child.pid)
        for stream in (child.stdin, child.stdout, child.stderr):
            if stream is not None:
                stream.close()  # does nothing, but for a pipe that could not be given to the loop

    def _wait_for(self, child: subprocess.Popen[bytes]) -> None:
        """It has ended. From here on its number is safe from others only as long as its group has members."""
        if self._watch is not None:
            self._watch.close()
        child.poll()


async def _is_set_within(event: asyncio.Event, limit_s: float) -> bool:
    try:
        async with asyncio.timeout(limit_s):
            await event.wait()
    except TimeoutError:
        return False
    return True
