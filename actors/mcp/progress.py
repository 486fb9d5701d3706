"""Progress of requests in flight: each has a token of its own, and its news extend its deadline."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from msgspec import Struct

from actors.mcp.deadline import Deadline


class Progress(Struct, frozen=True):
    """How far a call is: `total` is None where the server does not know, `message` is '' without one."""

    progress: float
    total: float | None = None
    message: str = ""


OnProgress = Callable[[Progress], None]
"""Called on the loop with each news; returns at once."""


class ProgressTokens:
    """The tokens of the requests in flight. A token is used once, so late news concern nobody."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._waiting: dict[int, tuple[Deadline, OnProgress | None]] = {}

    @property
    def in_flight(self) -> int:
        """How many requests have one."""
        return len(self._waiting)

    @contextmanager
    def given(self, deadline: Deadline, on_progress: OnProgress | None) -> Generator[int]:
        """A token for the block."""
        token = next(self._numbers)
        self._waiting[token] = deadline, on_progress
        try:
            yield token
        finally:
            del self._waiting[token]

    def progressed(self, params: dict[str, Any]) -> None:
        """Take a `notifications/progress`."""
        token = params.get("progressToken")
        waiting = self._waiting.get(token) if isinstance(token, int) else None
        if waiting is None:
            return
        deadline, on_progress = waiting
        deadline.extend()
        if on_progress is not None:
            on_progress(_read(params))


def _read(params: dict[str, Any]) -> Progress:
    done, total, message = params.get("progress"), params.get("total"), params.get("message")
    return Progress(
        float(done) if isinstance(done, int | float) else 0.0,
        float(total) if isinstance(total, int | float) else None,
        message if isinstance(message, str) else "",
    )
