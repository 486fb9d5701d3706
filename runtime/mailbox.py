"""A mailbox: where messages wait, first in first out, until the actor takes them.

Two kinds of one small interface. `Mailbox` is unbounded and takes no lock: `deque` operations are
atomic, and closing is won by order. `BoundedMailbox` has a capacity and a rule for what happens
beyond it. The control lane (stop, fail, child exits) is not here: it belongs to one incarnation and
lives in the cell, before this lane.

Promise: nothing falls between put and close.

    1. a thread sees the mailbox open and is about to append
    2. the loop closes it and drains what is there to dead letters
    3. the thread appends, looks again, sees it closed, and drains as well

Every item is popped by exactly one of the two, so each has exactly one fate.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any, Literal

from runtime.reply import Reply
from runtime.waits import Activity

Overflow = Literal["reject", "block", "drop_oldest", "drop_newest"]

Put = Literal["kept", "closed", "full", "dropped"]


class Envelope:
    """A message somebody waits for an answer to. A plain told message lies in the mailbox bare."""

    __slots__ = ("message", "reply")

    def __init__(self, message: Any, reply: Reply[Any]) -> None:
        self.message = message
        self.reply = reply


class WatchNotice:
    """A message meant for one incarnation only; later ones never see it."""

    __slots__ = ("incarnation", "message")

    def __init__(self, message: Any, incarnation: int) -> None:
        self.message = message
        self.incarnation = incarnation


Bury = Callable[[Any, str], None]
"""What is called with (item, reason) for an item that nobody will handle."""


class Mailbox:
    """Unbounded. `put` from any thread; `pop` and `close` on the loop thread only."""

    __slots__ = ("_bury", "_items", "closed")

    def __init__(self, bury: Bury) -> None:
        self._items: deque[Any] = deque()
        self._bury = bury
        self.closed = False

    def put(self, item: Any) -> Put:
        """Add an item: `kept`, or `closed` if it was not taken."""
        if self.closed:
            return "closed"
        self._items.append(item)
        if self.closed:
            self.drain()
        return "kept"

    def offer(self, item: Any) -> Put:
        """Add an item if there is room, whatever the overflow rule: `kept`, `closed` or `full`."""
        return self.put(item)

    def force(self, item: Any) -> Put:
        """Add an item of the runtime's own, beyond any capacity: `kept` or `closed`."""
        if self.closed:
            return "closed"
        self._items.append(item)
        if self.closed:
            self.drain()
        return "kept"

    def pop(self) -> Any:
        """The oldest item. Raises IndexError when there is none."""
        return self._items.popleft()

    def put_back(self, items: list[Any]) -> None:
        """Return popped items to the front, in their order."""
        self._items.extendleft(reversed(items))

    def __len__(self) -> int:
        """How many items wait."""
        return len(self._items)

    def close(self) -> None:
        """Take no more. What is inside stays until `drain` or `pop`."""
        self.closed = True

    def drain(self) -> None:
        """Bury everything that is inside."""
        while True:
            try:
                item = self._items.popleft()
            except IndexError:
                return
            self._bury(item, "stopped")


def _never(item: Any, reason: str) -> None:
    raise AssertionError(f"a closed mailbox took {item!r} ({reason})")


CLOSED = Mailbox(_never)
"""The mailbox of every actor that has stopped for good."""

CLOSED.close()


class BoundedMailbox(Mailbox):
    """Holds at most `capacity` items; `overflow` says what happens to one more.

    * `reject`: it is not taken, the sender gets `MailboxFull`.
    * `block`: the sending thread waits for room; on a loop thread that is an error, use `offer`.
    * `drop_oldest`: the oldest waiting one becomes a dead letter, the new one is taken.
    * `drop_newest`: the new one becomes a dead letter.

    Waiting is not done here: senders get a reply from `room`, one of them is told at each `pop`, in the
    order they came.
    """

    __slots__ = ("_capacity", "_changing", "_offers", "_overflow")

    def __init__(self, bury: Bury, capacity: int, overflow: Overflow) -> None:
        super().__init__(bury)
        self._capacity = capacity
        self._overflow = overflow
        self._changing = threading.RLock()
        self._offers: deque[Reply[None]] = deque()

    def put(self, item: Any) -> Put:
        """Add an item: `kept`, `closed`, `full` (not taken) or `dropped` (buried here)."""
        with self._changing:
            outcome = self.offer(item)
            if outcome != "full" or self._overflow in ("reject", "block"):
                return outcome
            dropped = item
            if self._overflow == "drop_oldest":
                dropped = self._take_oldest(item)
        self._bury(dropped, "overflow")
        return "dropped" if dropped is item else "kept"

    def _take_oldest(self, item: Any) -> Any:
        """Put the item in the place of the oldest message; notices of the runtime are never dropped."""
        for index, oldest in enumerate(self._items):
            if type(oldest) is not WatchNotice:
                del self._items[index]
                self._items.append(item)
                return oldest
        return item

    def put_back(self, items: list[Any]) -> None:
        """Return popped items to the front, in their order."""
        with self._changing:
            super().put_back(items)

    def offer(self, item: Any) -> Put:
        """Add an item if there is room, whatever the overflow rule: `kept`, `closed` or `full`."""
        with self._changing:
            if self.closed:
                return "closed"
            if len(self._items) >= self._capacity:
                return "full"
            self._items.append(item)
            return "kept"

    def force(self, item: Any) -> Put:
        """Add an item of the runtime's own, beyond any capacity: `kept` or `closed`."""
        with self._changing:
            return super().force(item)

    def room(self, target: Activity) -> Reply[None] | None:
        """None if there is room now; else a reply that settles when there may be.

        `target` is the actor that makes room, for the wait graph.
        """
        reply: Reply[None] = Reply(target)
        with self._changing:
            if self.closed or len(self._items) < self._capacity:
                return None
            self._offers.append(reply)
            return reply

    def pass_on(self) -> None:
        """A sender that was told of room does not use it: tell the next one.

        1. the actor takes a message and tells the first waiting sender
        2. that sender is cancelled before it runs
        3. the mailbox is empty, nothing will be taken any more, and the next sender waits for ever
        """
        with self._changing:
            if len(self._items) < self._capacity:
                self._tell_of_room()

    def pop(self) -> Any:
        """The oldest item; tells one sender that waits for room."""
        with self._changing:
            item = self._items.popleft()
            if self._offers:
                self._tell_of_room()
        return item

    def _tell_of_room(self) -> None:
        while self._offers and not self._offers.popleft().settle():
            pass  # that sender has given up; the room is the next one's

    def close(self) -> None:
        """Take no more, and wake everyone who waits for room."""
        with self._changing:
            self.closed = True
            offers, self._offers = self._offers, deque()
        for offer in offers:
            offer.settle()
