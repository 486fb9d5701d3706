"""What belongs to one incarnation and ends with it: background tasks, timers, watches.

Made on first use, so that an idle actor does not pay for it. Everything here runs on the loop thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Protocol
from weakref import WeakSet

from runtime.errors import ActorDeadError, Cancelled
from runtime.reply import Reply
from runtime.timers import Timer
from runtime.waits import CURRENT, Awaited


class TaskOwner(Protocol):
    """What background work needs of the cell it belongs to."""

    @property
    def path(self) -> str: ...
    def background_failed(self, error: BaseException, *, asked: bool) -> None:
        """Background work of the present incarnation raised; decide whether the actor fails."""


class BackgroundWork:
    """A task beside the mailbox: its own line in the wait graph, cancelled with its incarnation."""

    __slots__ = ("_belongings", "_label", "_owner", "awaiting", "reply", "task")

    def __init__(
        self,
        owner: TaskOwner,
        belongings: Belongings,
        label: str,
    ) -> None:
        self.awaiting: list[Awaited] | None = None
        self._owner = owner
        self._belongings = belongings
        self._label = label
        self.reply: Reply[Any] = Reply(self, self)
        self.task: asyncio.Task[Any] | None = None

    @property
    def path(self) -> str:
        """`<actor's path>#<label>`."""
        return f"{self._owner.path}#{self._label}"

    def begin(self, work: Coroutine[Any, Any, Any]) -> None:
        """Start the task; it carries this activity's identity."""
        token = CURRENT.set(self)
        try:
            self.task = asyncio.get_running_loop().create_task(work)
        finally:
            CURRENT.reset(token)
        self.task.add_done_callback(self._ended)

    def cancel_handler(self, reply: Reply[Any]) -> None:  # noqa: ARG002 - the seam's signature
        """Cancel the task; from any thread."""
        task = self.task
        if task is not None and not task.done():
            try:
                task.get_loop().call_soon_threadsafe(task.cancel)
            except RuntimeError:
                pass  # the loop is closed: the task has been cancelled already

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._belongings.tasks.discard(self)
        if task.cancelled():
            self.reply.settle(error=self._belongings.cancellation(self.path))
            return
        error = task.exception()
        if error is None:
            self.reply.settle(task.result())
            return
        asked = self.reply.has_listeners()
        self.reply.settle(error=error)
        if not self._belongings.ended:
            self._owner.background_failed(error, asked=asked)


class Belongings:
    """The tasks, timers and watches of one incarnation; `watched` holds the watched actors' lives."""

    __slots__ = ("ended", "tasks", "timers", "watched")

    def __init__(self) -> None:
        self.tasks: set[BackgroundWork] = set()
        self.timers: WeakSet[Timer] = WeakSet()  # the clock holds those that are still to fire
        self.watched: set[Any] = set()
        self.ended = False

    def cancellation(self, path: str) -> Exception:
        """Why a task of this incarnation was cancelled."""
        if self.ended:
            return ActorDeadError(f"{path} ended with its actor's incarnation")
        return Cancelled(f"{path} was cancelled")

    def release(self) -> set[asyncio.Task[Any]]:
        """Cancel tasks and timers; returns the tasks that still have to end."""
        self.ended = True
        for timer in list(self.timers):
            timer.disarm()
        self.timers.clear()
        tasks = {work.task for work in self.tasks if work.task is not None}
        for task in tasks:
            task.cancel()
        return tasks
