"""`VectorRows`: vectors in one growing matrix, each with its id, in the order they were added.

A removed row leaves a hole, so that removing does not move what follows; when a quarter is holes, they are
closed, in order. What searches for all rows at once finds holes at a bias of minus infinity.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

_LEAST_ROWS: Final = 64
_HOLES_IN: Final = 4


class VectorRows:
    """See the module. Belongs to one thread. `halved` says whether biases are minus half the squared norms."""

    def __init__(self, dimension: int, *, halved: bool) -> None:
        self.dimension = dimension
        self.slots: dict[str, int] = {}
        self.ids: list[str | None] = []
        """By slot; None is a hole."""
        self.greatest_norm = 0.0
        """No row's is greater."""
        self._halved = halved
        self._matrix = np.empty((0, dimension), np.float32)
        self._bias = np.empty(0, np.float32)

    @classmethod
    def of(cls, ids: list[str], matrix: Floats, *, halved: bool) -> VectorRows:
        """Rows that are there already; `ids` differ, and `matrix` is kept."""
        rows = cls(matrix.shape[1], halved=halved)
        rows.ids = list(ids)
        rows.slots = {id_: slot for slot, id_ in enumerate(ids)}
        rows._matrix, rows._bias = matrix, np.empty(len(ids), np.float32)
        rows._measure(slice(0, len(ids)))
        return rows

    @property
    def matrix(self) -> Floats:
        """All rows by slot, holes among them; valid until the next change."""
        return self._matrix[: len(self.ids)]

    @property
    def bias(self) -> Floats:
        """What is added to a row's inner product with a query, to compare rows: by slot."""
        return self._bias[: len(self.ids)]

    def __len__(self) -> int:
        return len(self.slots)

    def __iter__(self) -> Iterator[tuple[str, Floats]]:
        """Ids and vectors in order."""
        for slot, id_ in enumerate(self.ids):
            if id_ is not None:
                yield id_, self._matrix[slot]

    def append(self, id_: str, vector: Floats) -> None:
        """A new row at the end."""
        slot = len(self.ids)
        if slot == len(self._matrix):
            self._grow(max(_LEAST_ROWS, slot + slot // 2))
        self.ids.append(id_)
        self.slots[id_] = slot
        self.put(slot, vector)

    def put(self, slot: int, vector: Floats) -> None:
        """Another vector in the place of the one there."""
        self._matrix[slot] = vector
        self._measure(slice(slot, slot + 1))

    def extend(self, ids: list[str], vectors: Floats) -> None:
        """New rows at the end. `ids` are new and differ."""
        start, end = len(self.ids), len(self.ids) + len(ids)
        if end > len(self._matrix):
            self._grow(max(end, start + start // 2))
        self.ids += ids
        self.slots.update(zip(ids, range(start, end), strict=True))
        self._matrix[start:end] = vectors
        self._measure(slice(start, end))

    def remove(self, id_: str) -> bool:
        """Whether there was such a row."""
        slot = self.slots.pop(id_, None)
        if slot is None:
            return False
        self.ids[slot] = None
        self._bias[slot] = -np.inf
        if len(self.ids) - len(self.slots) > max(_LEAST_ROWS, len(self.ids) // _HOLES_IN):
            self._close_holes()
        return True

    def vector(self, id_: str) -> Floats:
        """A copy. Raises KeyError: there is none."""
        found: Floats = self._matrix[self.slots[id_]]
        return found.copy()

    def _grow(self, capacity: int) -> None:
        kept = len(self.ids)
        matrix, bias = self._matrix, self._bias
        self._matrix = np.empty((capacity, self.dimension), np.float32)
        self._bias = np.empty(capacity, np.float32)
        self._matrix[:kept] = matrix[:kept]
        self._bias[:kept] = bias[:kept]

    def _measure(self, changed: slice) -> None:
        squares = squared_norms(self._matrix[changed])
        self.greatest_norm = max(self.greatest_norm, float(np.sqrt(squares.max(initial=0.0))))
        with np.errstate(over="ignore"):  # where it is used, it is not (`vector_search`)
            self._bias[changed] = -squares / 2 if self._halved else 0.0

    def _close_holes(self) -> None:
        ids = [id_ for id_ in self.ids if id_ is not None]
        kept = np.fromiter(self.slots.values(), np.intp, len(ids))
        kept.sort()
        self._matrix, self._bias = self._matrix[kept], self._bias[kept]
        self.ids = list(ids)
        self.slots = {id_: slot for slot, id_ in enumerate(ids)}


def squared_norms(vectors: Floats) -> Doubles:
    """Of each row, summed as float64."""
    squares: Doubles = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
    return squares
