"""A bound on each test, so that nothing hangs: an alarm, and behind it a last resort.

The alarm (SIGALRM, main thread) makes the test fail with a stack of every thread; the run goes on. The
last resort is for a test whose main thread no longer runs Python: faulthandler prints the stacks and ends
the process.

Each of set-up, call and tear-down has the whole limit, because a test that ran out of time must still be
torn down. Default `DEFAULT_S`; `@pytest.mark.time_limit(seconds)` on a test, class or module changes it.
When not to use it: to assert that something is fast. It is far too generous for that.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import pytest

DEFAULT_S = 60.0
_LAST_RESORT_AFTER = 3.2  # three phases at their limit, and a little


def limit_of(item: pytest.Item) -> float:
    """The seconds one phase of a test may take."""
    marker = item.get_closest_marker("time_limit")
    if marker is None:
        return DEFAULT_S
    if len(marker.args) != 1 or not isinstance(marker.args[0], int | float):
        raise pytest.UsageError(f"time_limit takes one number of seconds, got {marker.args!r}")
    return float(marker.args[0])


@contextmanager
def alarm(seconds: float, what: str) -> Iterator[None]:
    """Fail what runs inside when it takes longer. Main thread only; an alarm around it is set back after."""

    def ring(_number: int, _frame: FrameType | None) -> None:
        pytest.fail(f"{what} took longer than {seconds:g} s\n{stacks()}", pytrace=False)

    previous = signal.signal(signal.SIGALRM, ring)
    outer_s, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, outer_s)
        signal.signal(signal.SIGALRM, previous)


def stacks() -> str:
    """Where every thread is, as text."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    return "\n".join(
        f"thread {names.get(ident, ident)!r}:\n{''.join(traceback.format_stack(frame))}"
        for ident, frame in sys._current_frames().items()
    )


class LastResort:
    """Ends the whole run, with stacks on the real stderr, when the alarm could not."""

    def __init__(self) -> None:
        # A copy, because pytest puts its own file in the place of descriptor 2 while a test runs.
        self._stderr = os.fdopen(os.dup(2), "w", encoding="utf-8")

    def arm(self, limit_s: float) -> None:
        """Start counting for one test."""
        faulthandler.dump_traceback_later(
            limit_s * _LAST_RESORT_AFTER, exit=True, file=self._stderr
        )

    def disarm(self) -> None:
        """The test ended by itself."""
        faulthandler.cancel_dump_traceback_later()

    def close(self) -> None:
        """Give the descriptor back."""
        self.disarm()
        self._stderr.close()
