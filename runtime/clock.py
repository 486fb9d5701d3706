"""Virtual time: an event loop whose clock stands still while anybody works and jumps when nobody does.

For `runtime.testing` only. Restart windows, back-off, timeouts and `asyncio.sleep` of minutes run in
milliseconds. Real input and output still works, but its waiting time is not counted, so a program
that waits for a socket while a timer is pending sees the timer fire first.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable
from typing import Any


class _JumpingSelector(selectors.DefaultSelector):
    """Polls; if nothing is ready and the loop may jump, moves the clock instead of waiting."""

    jump: Callable[[float], bool]

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            return super().select(None)
        ready = super().select(0)
        if ready or timeout <= 0 or self.jump(timeout):
            return ready
        return super().select(None)


class VirtualLoop(asyncio.SelectorEventLoop):
    """A selector loop on virtual time, in seconds from 0.

    `may_jump` is asked with nothing to do but timers; `horizon` is the time no jump goes beyond
    (infinity: as far as the next timer).
    """

    def __init__(self, may_jump: Callable[[], bool]) -> None:
        selector = _JumpingSelector()
        selector.jump = self._jump
        self._now = 0.0
        self._may_jump = may_jump
        self.horizon = 0.0
        super().__init__(selector)

    def time(self) -> float:
        """Seconds of virtual time since the loop was made."""
        return self._now

    def _jump(self, distance: float) -> bool:
        if self._may_jump():
            self._now += distance
            return True
        if self._now < self.horizon:
            self._now = min(self._now + distance, self.horizon)
            return True
        return False


def new_loop(uvloop_wanted: bool | None) -> tuple[asyncio.AbstractEventLoop, str]:
    """A fresh event loop and its name: uvloop where wanted (None: where installed), else asyncio.

    Raises ImportError if uvloop is demanded and not installed.
    """
    module: Any = None
    if uvloop_wanted is not False:
        try:
            import uvloop as module  # noqa: PLC0415 - an optional extra: greenroom[fast]
        except ImportError:
            if uvloop_wanted:
                raise
    if module is None:
        return asyncio.SelectorEventLoop(), "asyncio"
    loop: asyncio.AbstractEventLoop = module.new_event_loop()
    return loop, "uvloop"
