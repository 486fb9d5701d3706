"""Dead letters: messages that nobody will handle, counted and the newest kept, so that nothing is lost unseen."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

from runtime.events import DeadLetter, EventStream

KEPT = 100
"""How many of the newest dead letters are kept."""


class DeadLetters:
    """What could not be handled in one system. Safe from any thread."""

    def __init__(self, events: EventStream) -> None:
        self._events = events
        self._lock = threading.RLock()  # a letter that falls out may have a finaliser that sends
        self._newest: deque[DeadLetter] = deque(maxlen=KEPT)
        self._count = 0

    def add(self, path: str, message: Any, reason: str) -> None:
        """Count and keep a letter, and publish it if anybody listens."""
        letter = DeadLetter(path, message, reason)
        with self._lock:
            self._count += 1
            self._newest.append(letter)
        if self._events.wants(DeadLetter):
            self._events.publish(letter)

    @property
    def count(self) -> int:
        """How many there were since the system began."""
        return self._count

    def newest(self) -> list[DeadLetter]:
        """The newest ones, oldest first, at most 100."""
        with self._lock:
            return list(self._newest)
