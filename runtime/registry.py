"""The actors of one system, by name and by number. Every operation is O(1); pykka's registry is O(n).

Names are unique in a system. A name is taken when an actor is made, in whatever thread, and free again
when the actor has stopped for good; a restart keeps it.
"""

from __future__ import annotations

import threading
from typing import Any, Protocol

from runtime.errors import NameTaken

_WORTH_SHRINKING = 1024
"""A dict never gives memory back by itself: one that once held so many is made anew when it has emptied."""


class Entry(Protocol):
    """What is entered: a cell."""

    @property
    def number(self) -> int:
        """Unique in the process."""

    @property
    def name(self) -> str:
        """The given or made name."""

    @property
    def entered_name(self) -> str | None:
        """The given name; None without one, or for the runtime's own, which leave theirs to users."""

    @property
    def path(self) -> str:
        """Where it stands in the tree."""

    @property
    def ref(self) -> Any:
        """Its ref."""

    @property
    def actor_type(self) -> type[Any]:
        """The actor's class."""


class Registry:
    """Look-ups from any thread; the answers are true at the moment of the call."""

    def __init__(self) -> None:
        self._by_name: dict[str, Any] = {}
        self._cells: dict[int, Any] = {}
        self._most = 0
        self._lock = threading.RLock()  # a collection inside may run a finaliser that looks up

    def forked(self) -> None:
        """In a forked child: whoever held the lock is gone."""
        self._lock = threading.RLock()

    def add(self, cell: Entry) -> None:
        """Enter a cell. Raises NameTaken."""
        given = cell.entered_name
        with self._lock:
            holder = cell if given is None else self._by_name.setdefault(given, cell)
            if holder is cell:
                self._cells[cell.number] = cell
                self._most = max(self._most, len(self._cells))
                return
        raise NameTaken(
            f"the name {given!r} belongs to the living actor {holder.path}; "
            "stop it first, or choose another name"
        )

    def remove(self, cell: Entry) -> None:
        """Forget a cell and free its name."""
        given = cell.entered_name
        with self._lock:
            self._cells.pop(cell.number, None)
            if given is not None and self._by_name.get(given) is cell:
                del self._by_name[given]
            if self._most > _WORTH_SHRINKING and len(self._cells) < self._most // 8:
                self._cells, self._by_name = dict(self._cells), dict(self._by_name)
                self._most = len(self._cells)

    def get(self, name: str) -> Any | None:
        """The ref of the living actor of that given name, or None."""
        cell = self._by_name.get(name)
        return None if cell is None else cell.ref

    def find(self, name: str) -> Any | None:
        """The cell of that given or made name, or None."""
        found = self._by_name.get(name)
        if found is None:
            number = name.rpartition("-")[2]
            candidate = self._cells.get(int(number)) if number.isdecimal() else None
            found = candidate if candidate is not None and candidate.name == name else None
        return found

    def all(self) -> list[Any]:
        """The refs of all living actors, oldest first, the runtime's own among them."""
        return [cell.ref for cell in list(self._cells.values())]

    def of_class(self, kind: type[Any]) -> list[Any]:
        """The refs of living actors of a class or its subclasses. O(n)."""
        return [cell.ref for cell in self.cells() if issubclass(cell.actor_type, kind)]

    def cells(self) -> list[Any]:
        """All living cells."""
        return list(self._cells.values())

    def __len__(self) -> int:
        """How many actors live, the runtime's own among them."""
        return len(self._cells)
