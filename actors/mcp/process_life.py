"""`ProcessLife`: what the event loop tells of one child process, and when that makes a connection lost.

Decided by the process, not by its pipes: what it has started may hold those open for ever. But

* what it wrote before it died is delivered before its end is told: until its pipes end, at most `DRAIN_S`;
* a process that closes its output or input and lives on cannot be spoken with: it is lost too. Those who
  die close them a moment before, so the death gets `DEATH_S` to be heard of and told instead.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from typing import cast

from msgspec import Struct

DRAIN_S = 0.2
DEATH_S = 1.0
STDIN, STDOUT, STDERR = 0, 1, 2


class Listeners(Struct, frozen=True):
    """Called on the loop, by the process's events; they return at once and raise nothing.

    * `started`: with its number, as early as the loop tells it.
    * `output`, `log`: bytes from standard output and standard error.
    * `exited`: the process has ended and was waited for.
    * `lost`: once, with the end of a sentence that says how; no output comes after it.
    """

    started: Callable[[int], None]
    output: Callable[[bytes], None]
    log: Callable[[bytes], None]
    exited: Callable[[], None]
    lost: Callable[[str], None]


class ProcessLife(asyncio.SubprocessProtocol):
    """See the module. The loop calls its methods, but for `mute`.

    `exited`, `writable` and `closed` are set when the process has ended, when its input takes more (or will
    never again), and when all pipes are closed too.
    """

    def __init__(self, listeners: Listeners) -> None:
        self._listeners = listeners
        self._transport: asyncio.SubprocessTransport | None = None
        self._open: set[int] = set()
        self._muted = False
        self._timer: asyncio.TimerHandle | None = None
        self.exited = asyncio.Event()
        self.closed = asyncio.Event()
        self.writable = asyncio.Event()

    @property
    def takes_input(self) -> bool:
        """Whether what is written may still be read."""
        return STDIN in self._open and not self.exited.is_set() and not self._muted

    def mute(self) -> None:
        """Its owner ends it: nothing is told any more but its log."""
        self._muted = True
        self.writable.set()
        self._disarm()

    # -- from the loop ----------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It runs."""
        process = cast(
            asyncio.SubprocessTransport, transport
        )  # uvloop's is one by its methods only
        self._transport = process
        self._open = {STDIN, STDOUT, STDERR}
        self.writable.set()
        self._listeners.started(process.get_pid())

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """It wrote something."""
        if fd == STDERR:
            self._listeners.log(data)
        elif not self._muted:
            self._listeners.output(data)

    def pause_writing(self) -> None:
        """It does not read as fast as we write."""
        self.writable.clear()

    def resume_writing(self) -> None:
        """It has read."""
        self.writable.set()

    def pipe_connection_lost(self, fd: int, _: Exception | None) -> None:
        """It, or the last that held that pipe, has closed it."""
        self._open.discard(fd)
        if fd == STDIN:
            self.writable.set()
        if fd != STDERR or self.exited.is_set():
            self._consider()

    def process_exited(self) -> None:
        """It has ended; its pipes may hold something yet."""
        self.exited.set()
        self.writable.set()
        self._listeners.exited()
        self._disarm()
        self._consider()

    def connection_lost(self, _: Exception | None) -> None:
        """It has ended, and all its pipes are closed."""
        self.closed.set()

    # -- when it is lost --------------------------------------------------------------------------

    def _consider(self) -> None:
        if self._muted:
            return
        if self.exited.is_set() and not self._open & {STDOUT, STDERR}:
            self._tell()
        elif self._timer is None:
            self._arm(DRAIN_S if self.exited.is_set() else DEATH_S)

    def _arm(self, delay_s: float) -> None:
        """Tell after `delay_s`, in two steps.

        1. The loop is held up for longer than the delay. 2. Its timers are due, and the pipes have
        something. 3. uvloop runs timers first. Between two timers it reads.
        """
        loop = asyncio.get_running_loop()

        def half() -> None:
            self._timer = loop.call_later(delay_s / 2, self._tell)

        self._timer = loop.call_later(delay_s / 2, half)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _tell(self) -> None:
        how = self._how()
        self.mute()
        self._listeners.lost(how)

    def _how(self) -> str:
        assert self._transport is not None
        if self.exited.is_set():
            return how_it_ended(self._transport.get_returncode() or 0)
        what = "input" if STDIN not in self._open else "output"
        return f"closed its standard {what}, but runs on"


def how_it_ended(status: int) -> str:
    """A process's return code in words: `exited with status 1`, `was ended by SIGKILL`."""
    if status >= 0:
        return f"exited with status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"
