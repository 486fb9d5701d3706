"""The actors of one system, by name and by number. Every operation is O(1); pykka's registry is O(n).

Names are unique in a system. A name is taken when an actor is made, in whatever thread, and free again
when the actor has stopped for good; a restart keeps it.
"""

from __future__ import annotations

from typing import Any

from runtime.cell import Cell
from runtime.errors import NameTaken
from runtime.ref import ActorRef


class Registry:
    """Look-ups from any thread; the answers are true at the moment of the call."""

    def __init__(self) -> None:
        self._by_name: dict[str, Cell] = {}
        self._cells: dict[int, Cell] = {}

    def add(self, cell: Cell) -> None:
        """Enter a cell. Raises NameTaken."""
        given = _given_name(cell)
        if given is not None and self._by_name.setdefault(given, cell) is not cell:
            raise NameTaken(
                f"the name {given!r} belongs to the living actor {self._by_name[given].path}; "
                "stop it first, or choose another name"
            )
        self._cells[cell.number] = cell

    def remove(self, cell: Cell) -> None:
        """Forget a cell and free its name."""
        self._cells.pop(cell.number, None)
        given = _given_name(cell)
        if given is not None and self._by_name.get(given) is cell:
            del self._by_name[given]

    def get(self, name: str) -> ActorRef[Any] | None:
        """The ref of the living actor of that given name, or None."""
        cell = self._by_name.get(name)
        return None if cell is None else cell.ref

    def cell(self, wanted: str | ActorRef[Any]) -> Cell | None:
        """The cell behind a given or made name, or behind a ref of this system; None if it has ended."""
        if isinstance(wanted, ActorRef):
            cell = wanted._cell
            return cell if isinstance(cell, Cell) and self._cells.get(cell.number) is cell else None
        found = self._by_name.get(wanted)
        if found is None:
            number = wanted.rpartition("-")[2]
            candidate = self._cells.get(int(number)) if number.isdecimal() else None
            found = candidate if candidate is not None and candidate.name == wanted else None
        return found

    def all(self) -> list[ActorRef[Any]]:
        """The refs of all living actors, oldest first, the runtime's own among them."""
        return [cell.ref for cell in list(self._cells.values())]

    def of_class(self, kind: type[Any]) -> list[ActorRef[Any]]:
        """The refs of living actors of a class or its subclasses. O(n)."""
        return [
            cell.ref for cell in list(self._cells.values()) if issubclass(cell.actor_type, kind)
        ]

    def cells(self) -> list[Cell]:
        """All living cells."""
        return list(self._cells.values())

    def __len__(self) -> int:
        """How many actors live, the runtime's own among them."""
        return len(self._cells)


def _given_name(cell: Cell) -> str | None:
    """The name to enter; the root and its own two children leave theirs to users."""
    own = cell.parent is None or cell.parent.parent is None
    return None if own else cell.spec.name
