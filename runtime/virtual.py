"""What a wait outside must tell a loop on virtual time: its clock may jump while somebody waits for it."""

from __future__ import annotations

import threading
from typing import Protocol

_counting = threading.Lock()


class VirtualTime(Protocol):
    """A loop on virtual time: its clock may jump while a thread outside waits for an answer."""

    outside_waiters: int

    def poke(self) -> None:
        """Make the loop look again whether time may jump."""


class OutsideWait:
    """Tells a loop on virtual time that somebody outside waits for it."""

    __slots__ = ("_virtual",)

    def __init__(self, virtual: VirtualTime | None) -> None:
        self._virtual = virtual

    def __enter__(self) -> None:
        if self._virtual is not None:
            with _counting:
                self._virtual.outside_waiters += 1
            self._virtual.poke()

    def __exit__(self, *exc_info: object) -> None:
        if self._virtual is not None:
            with _counting:
                self._virtual.outside_waiters -= 1
