"""Timers that belong to one incarnation: made by `Actor.send_after` and `send_every`, ended with it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from runtime.errors import SystemEnded
from runtime.loop import LoopThread


class Timer:
    """A pending send. `cancel` from any thread; after it nothing more is sent from the loop's view."""

    __slots__ = ("__weakref__", "_cancelled", "_fire", "_handle", "_loop_thread", "every_s")

    def __init__(
        self, loop_thread: LoopThread, fire: Callable[[], None], every_s: float | None
    ) -> None:
        self._loop_thread = loop_thread
        self._fire = fire
        self._handle: asyncio.TimerHandle | None = None
        self._cancelled = False
        self.every_s = every_s

    def arm(self, delay_s: float) -> None:
        """Start counting; on the loop thread."""
        if not self._cancelled:
            self._handle = self._loop_thread.loop.call_later(delay_s, self._expire)

    def _expire(self) -> None:
        if self._cancelled:
            return
        self._handle = None
        if self.every_s is not None:
            self.arm(self.every_s)
        self._fire()

    def cancel(self) -> None:
        """Send no more. Cancelling twice, or after it was sent, does nothing."""
        self._cancelled = True
        if self._loop_thread.here():
            self.disarm()
            return
        try:
            self._loop_thread.post(self.disarm)
        except SystemEnded:
            pass  # the timer ended with its system

    def disarm(self) -> None:
        """Drop the loop's handle; on the loop thread."""
        self._cancelled = True
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
