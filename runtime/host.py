"""The two seams of a cell: the system it lives in, and the way its actor's code is run."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, Protocol

from runtime.events import EventStream
from runtime.loop import LoopThread
from runtime.virtual import VirtualTime


class Host(Protocol):
    """What a cell needs of the system it lives in."""

    name: str
    loop_thread: LoopThread
    virtual: VirtualTime | None
    events: EventStream
    lock: threading.Lock

    def bury(self, path: str, item: Any, reason: str) -> None:
        """Count and publish a dead letter, and answer whoever waits for it."""

    def forget(self, cell: Any) -> None:
        """The cell has stopped for good: free its name."""

    def root_failed(self, error: BaseException) -> None:
        """The tree has failed as a whole."""

    def interrupted(self, path: str, error: BaseException) -> None:
        """KeyboardInterrupt or SystemExit came out of an actor: stop this system."""

    def abandoned(self, path: str, doing: str) -> None:
        """Code that did not end in time is left to itself: name it."""


class Performer(Protocol):
    """How an actor's code is run: on the loop, or on a thread of its own."""

    def take(self, cell: Any) -> int:
        """Handle waiting messages, at most a slice; how many were taken."""

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Run a hook: its result, or a coroutine to await for it."""

    def cancel(self, running: asyncio.Future[Any]) -> None:
        """Cancel the running handler or hook, if that can be done."""

    def may_call(self, instance: Any) -> bool:
        """Whether a hook of the instance may run now."""

    def start_grace_s(self, shutdown_s: float) -> float:
        """Seconds a start that is broken off has to end, once it was cancelled where that can be done."""

    def give_up(self) -> list[Any]:
        """The running code will not end: take no more from it. From any thread.

        Returns the items of the mailbox it had taken and not begun, and answers who waits for the rest.
        """

    def close(self) -> None:
        """The actor has stopped for good."""
