"""`Deadline`: how long to wait for something that may give signs of life meanwhile."""

from __future__ import annotations

import asyncio
import math
from types import TracebackType


class Deadline:
    """Raises TimeoutError in its block after `quiet` seconds without `extend`, at the latest after `ceiling`.

        async with Deadline(30.0, ceiling=600.0) as deadline:
            ...                  # something else calls deadline.extend() with each sign of life

    Seconds; without `ceiling` it cannot be extended, and `math.inf` never ends. Entered once, by the task
    that waits.
    """

    def __init__(self, quiet: float, *, ceiling: float = 0.0) -> None:
        self._quiet = quiet
        self._ceiling = max(ceiling, quiet)
        self._end = 0.0
        self._timeout: asyncio.Timeout | None = None

    @property
    def expired(self) -> bool:
        """Whether the time ran out."""
        return self._timeout is not None and self._timeout.expired()

    @property
    def limit(self) -> str:
        """The limit that counts, for messages."""
        if self._ceiling > self._quiet:
            return f"{self._quiet:g} s without progress, or {self._ceiling:g} s in all"
        return f"{self._quiet:g} s"

    def extend(self) -> None:
        """There was a sign of life: the quiet time begins anew, within the ceiling."""
        timeout = self._timeout
        if timeout is None or timeout.expired() or timeout.when() is None:
            return
        timeout.reschedule(min(asyncio.get_running_loop().time() + self._quiet, self._end))

    async def __aenter__(self) -> Deadline:
        now = asyncio.get_running_loop().time()
        self._end = now + self._ceiling
        self._timeout = asyncio.timeout_at(None if math.isinf(self._quiet) else now + self._quiet)
        await self._timeout.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._timeout is not None
        await self._timeout.__aexit__(kind, error, trace)
