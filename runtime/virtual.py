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
    """Tells a loop on virtual time that somebody outside waits for it, from `begin` to `end`.

    It ends where the answer is given, not where the waiting thread wakes up, and does not begin once it
    has ended: else the loop would for a moment find nothing to do and somebody waiting, and jump.
    """

    __slots__ = ("_counted", "_virtual")

    def __init__(self, virtual: VirtualTime | None) -> None:
        self._virtual = virtual
        self._counted = False

    def begin(self) -> None:
        """The wait begins, unless it has ended already."""
        if self._virtual is None:
            return
        with _counting:
            virtual = self._virtual
            if virtual is None:
                return
            self._counted = True
            virtual.outside_waiters += 1
        virtual.poke()

    def end(self) -> None:
        """The wait is over; ending twice is ending once."""
        if self._virtual is None:
            return
        with _counting:
            if self._virtual is not None:
                if self._counted:
                    self._virtual.outside_waiters -= 1
                self._counted, self._virtual = False, None
