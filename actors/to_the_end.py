"""`to_the_end`: work that a cancel must not break off half-way."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any


async def to_the_end(work: Coroutine[Any, Any, None]) -> None:
    """Do what must not be broken off half-way, since nobody would know of what it leaves: a process, pipes.

    Such work is bounded in time. A cancel that comes meanwhile is raised at its end.
    """
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        if not task.cancelled():
            task.exception()  # looked at, so that asyncio does not complain; the cancel is what is told
        raise cancelled
    await task
