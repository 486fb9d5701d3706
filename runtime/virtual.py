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
    """Tells a loop on virtual time that somebody outside waits for it, from the making until `end`.

    It ends where the answer is given, not where the waiting thread wakes up: between the two the loop
    would find nothing to do and somebody waiting, and jump.
    """

    __slots__ = ("_virtual",)

    def __init__(self, virtual: VirtualTime | None) -> None:
        self._virtual = virtual
        if virtual is not None:
            with _counting:
                virtual.outside_waiters += 1
            virtual.poke()

    def end(self) -> None:
        """The wait is over; ending twice is ending once."""
        if self._virtual is not None:
            with _counting:
                virtual, self._virtual = self._virtual, None
                if virtual is not None:
                    virtual.outside_waiters -= 1
