"""Virtual time: an event loop whose clock stands still while anybody works and jumps when nobody does.

For `runtime.testing` only. Restart windows, back-off, timeouts and `asyncio.sleep` of minutes run in
milliseconds. Real input and output still works, but its waiting time is not counted, so a program
that waits for a socket while a timer is pending sees the timer fire first.
"""

from __future__ import annotations

import asyncio
import os
import selectors
from collections.abc import Callable
from typing import Any


class _JumpingSelector(selectors.DefaultSelector):
    """Polls; if nothing is ready and the loop may jump, moves the clock instead of waiting."""

    reach: Callable[[], float]
    move: Callable[[float], None]

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """What is ready. How far the clock may move is asked first, and only then what is ready:

        1. nothing is ready
        2. a thread sends a message, wakes the loop, and waits for the answer
        3. somebody waits, so the clock moves, although the message is there
        """
        if timeout is None:
            return super().select(None)
        reach = self.reach()
        ready = super().select(0)
        if ready or timeout <= 0:
            return ready
        if reach > 0:
            self.move(min(timeout, reach))
            return ready
        return super().select(None)


class VirtualLoop(asyncio.SelectorEventLoop):
    """A selector loop on virtual time, in seconds from 0.

    Asked when there is nothing to do but timers: while `is_working` the clock stands, while `is_awaited` it
    jumps to the next timer, and else no further than `horizon`.
    """

    def __init__(self, is_working: Callable[[], bool], is_awaited: Callable[[], bool]) -> None:
        selector = _JumpingSelector()
        selector.reach = self._reach
        selector.move = self._move
        self._now = 0.0
        self._is_working = is_working
        self._is_awaited = is_awaited
        self.horizon = 0.0
        super().__init__(selector)

    def time(self) -> float:
        """Seconds of virtual time since the loop was made."""
        return self._now

    def is_idle(self) -> bool:
        """Whether no callback waits to be called at the present moment."""
        return not getattr(self, "_ready")  # noqa: B009 - asyncio's own queue, unknown to the type checker

    def _reach(self) -> float:
        """How far the clock may move now."""
        if self._is_working():
            return 0.0
        return float("inf") if self._is_awaited() else self.horizon - self._now

    def _move(self, distance: float) -> None:
        self._now += distance


def new_loop(uvloop_wanted: bool | None) -> tuple[asyncio.AbstractEventLoop, str]:
    """A fresh event loop and its name: uvloop where wanted, else asyncio.

    With None it is uvloop where that is installed and the standard streams are open.

    Raises ImportError if uvloop is demanded and not installed.
    """
    module: Any = None
    if uvloop_wanted or (uvloop_wanted is None and _standard_streams_open()):
        try:
            import uvloop as module  # noqa: PLC0415 - an optional extra: greenroom[fast]
        except ImportError:
            if uvloop_wanted:
                raise
    if module is None:
        return asyncio.SelectorEventLoop(), "asyncio"
    loop: asyncio.AbstractEventLoop = module.new_event_loop()
    return loop, "uvloop"


def _standard_streams_open() -> bool:
    """Whether descriptors 0 to 2 are there: uvloop aborts the process when it is given one of them."""
    try:
        for descriptor in range(3):
            os.fstat(descriptor)
    except OSError:
        return False
    return True
