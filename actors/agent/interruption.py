"""Breaking off what a turn waits for: by a cancel token, or by a deadline.

The turn runs in the task it was called in; no further task is made for a wait. An interrupt cancels
that task and turns the `CancelledError` back into `Interrupted` at the wait it broke off, the way
`asyncio.timeout` does, so a cancel from outside (an actor that stops) still arrives as what it is.

How a request from a thread becomes an interrupt:
1. The token's flag is set, then the loop is asked to look. A turn that does not wait sees the flag at
   its next look.
2. The look runs as a loop callback, so the task is not running. It fires only while a wait is open.
   What it cancels is therefore always that wait, never what comes after it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from types import TracebackType
from typing import Literal, TypeVar

from actors.agent.cancel import CancelToken

T = TypeVar("T")
Reason = Literal["cancelled", "deadline"]


class Interrupted(Exception):
    """The wait was broken off by the turn's token or deadline. Never leaves the turn."""


class Interruption:
    """The interrupts of one turn; a context manager around all its waits.

    `timeout_s` counts from entering; None is no deadline. `token` may be None.
    """

    __slots__ = (
        "_cancels_before",
        "_deadline",
        "_expired",
        "_fired",
        "_grace",
        "_grace_s",
        "_loop",
        "_task",
        "_timeout_s",
        "_token",
        "_waiting",
    )

    def __init__(self, token: CancelToken | None, timeout_s: float | None) -> None:
        self._token = token
        self._timeout_s = timeout_s
        self._expired = self._fired = self._waiting = False
        self._grace_s = 0.0
        self._deadline: asyncio.TimerHandle | None = None
        self._grace: asyncio.TimerHandle | None = None

    def __enter__(self) -> Interruption:
        """Bind to the running task and loop. Raises RuntimeError outside of a task."""
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError(
                "a turn runs in an asyncio task, and there is none; use create_task or run"
            )
        self._task, self._loop = task, asyncio.get_running_loop()
        self._cancels_before = task.cancelling()
        if self._token is not None:
            self._token.listen(self._asked)
        if self._timeout_s is not None:
            self._deadline = self._loop.call_later(self._timeout_s, self._expire)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Unbind; a later request changes nothing."""
        if self._token is not None:
            self._token.listen(None)
        if self._deadline is not None:
            self._deadline.cancel()

    @property
    def reason(self) -> Reason | None:
        """Why the turn has to end now, or None. A cancel is named before a deadline."""
        if self._token is not None and self._token.requested:
            return "cancelled"
        return "deadline" if self._expired else None

    async def wait(self, work: Awaitable[T], *, grace_s: float = 0.0) -> T:
        """The result of `work`, unless the turn has to end first; then `work` is cancelled.

        A cancel leaves the work `grace_s` seconds to end by itself.

        Raises:
            Interrupted: the work was broken off. A cancel of the task by others stays CancelledError.
        """
        self._waiting, self._grace_s = True, grace_s
        try:
            return await work
        except asyncio.CancelledError:
            if not self._fired or self._task.cancelling() > self._cancels_before + 1:
                raise
            raise Interrupted from None
        finally:
            self._waiting = False
            self._end_wait()

    def _end_wait(self) -> None:
        if self._grace is not None:
            self._grace.cancel()
            self._grace = None
        if self._fired:
            self._fired = False
            self._task.uncancel()

    def _asked(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._heard)
        except RuntimeError:
            pass  # the loop closed between the request and here, and the turn ended before it

    def _heard(self) -> None:
        if self._waiting and self._grace_s and self._grace is None:
            self._grace = self._loop.call_later(self._grace_s, self._fire)
        elif not self._grace_s:
            self._fire()

    def _expire(self) -> None:
        self._expired = True
        self._fire()

    def _fire(self) -> None:
        if self._waiting and not self._fired:
            self._fired = True
            self._task.cancel()
