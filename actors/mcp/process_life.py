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

from msgspec import Struct

DRAIN_S = 0.2
DEATH_S = 1.0
STDIN, STDOUT, STDERR = 0, 1, 2


class Listeners(Struct, frozen=True):
    """Called on the loop, by the pipes' events themselves; they return at once and raise nothing.

    * `output`, `log`: bytes from standard output and standard error.
    * `lost`: once, with the end of a sentence that says how; no output comes after it.
    """

    output: Callable[[bytes], None]
    log: Callable[[bytes], None]
    lost: Callable[[str], None]


class ProcessLife:
    """See the module.

    `exited`, `writable` and `closed` are set when the process has ended, when its input takes more (or will
    never again), and when all its pipes are closed; `over` when nothing is told any more, which comes within
    `DEATH_S` and `DRAIN_S` of the moment from which it takes no input. `how` then says how it ended, '' if its
    owner ended it.
    """

    def __init__(self, listeners: Listeners) -> None:
        self._listeners = listeners
        self._open: set[int] = set()
        self._status: int | None = None
        self._muted = False
        self._timer: asyncio.TimerHandle | None = None
        self.exited = asyncio.Event()
        self.closed = asyncio.Event()
        self.closed.set()
        self.writable = asyncio.Event()
        self.writable.set()
        self.over = asyncio.Event()
        self.how = ""

    @property
    def takes_input(self) -> bool:
        """Whether what is written may still be read."""
        return STDIN in self._open and not self.exited.is_set() and not self._muted

    def mute(self) -> None:
        """Its owner ends it: nothing is told any more but its log."""
        self._muted = True
        self.over.set()
        self.writable.set()
        self._disarm()

    def has_exited(self, status: int | None) -> None:
        """It has ended; its pipes may hold something yet."""
        self._status = status
        self.exited.set()
        self.writable.set()
        self._disarm()
        self._consider()

    # -- from its pipes ---------------------------------------------------------------------------

    def pipe_opened(self, which: int) -> None:
        """A pipe to it is there."""
        self._open.add(which)
        self.closed.clear()

    def pipe_data(self, which: int, data: bytes) -> None:
        """It wrote something."""
        if which == STDERR:
            self._listeners.log(data)
        elif not self._muted:
            self._listeners.output(data)

    def pipe_closed(self, which: int) -> None:
        """It, or the last that held that pipe, has closed it; or its owner."""
        self._open.discard(which)
        if not self._open:
            self.closed.set()
        if which == STDIN:
            self.writable.set()
        if which != STDERR or self.exited.is_set():
            self._consider()

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
        self.how = self._how()
        self.mute()
        self._listeners.lost(self.how)

    def _how(self) -> str:
        if self.exited.is_set():
            return how_it_ended(self._status)
        what = "input" if STDIN not in self._open else "output"
        return f"closed its standard {what}, but runs on"


class Pipe(asyncio.Protocol):
    """One pipe of a process, `which` of `STDIN`, `STDOUT` and `STDERR`; tells its life."""

    def __init__(self, which: int, life: ProcessLife) -> None:
        self._which = which
        self._life = life

    def connection_made(self, _: asyncio.BaseTransport) -> None:
        """It is there."""
        self._life.pipe_opened(self._which)

    def data_received(self, data: bytes) -> None:
        """The process wrote something."""
        self._life.pipe_data(self._which, data)

    def pause_writing(self) -> None:
        """The process does not read as fast as we write."""
        self._life.writable.clear()

    def resume_writing(self) -> None:
        """The process has read."""
        self._life.writable.set()

    def connection_lost(self, _: Exception | None) -> None:
        """It is closed."""
        self._life.pipe_closed(self._which)


def how_it_ended(status: int | None) -> str:
    """A process's return code in words: `exited with status 1`, `was ended by SIGKILL`."""
    if status is None:
        return "has ended"
    if status >= 0:
        return f"exited with status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"
