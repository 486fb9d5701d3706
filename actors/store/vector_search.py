"""The search of a `VectorIndex`: ranks as exact float64 scores would, at the price of float32.

All rows are screened in float32, by one matrix product. What float32 can be wrong by is bounded (N. Higham,
Accuracy and Stability of Numerical Algorithms, section 3.1), so the rows that could be among the best k are
known for certain; they alone are scored in float64. The bound holds in any order of summation.

Where float32 cannot hold what is computed, no row is ruled out, and all are scored in float64.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from actors.store.vector_rows import Doubles, Floats, VectorRows

_BLOCK_ROWS: Final = 16_384
_BLOCK_QUERIES: Final = 64
_STRIP: Final = 64
_RESCORED_ROWS: Final = 4_096
_ROUNDING: Final = 2.0**-24
_TIE: Final = 2.0**-22
_HOLDS: Final = 1e37
_TINY: Final = 2.0**-125

Slots = NDArray[np.intp]


class Ranked(NamedTuple):
    """The best rows of one query, the best first: their slots, and their scores as float32."""

    slots: Slots
    scores: Floats


def search(rows: VectorRows, queries: Floats, k: int, *, l2: bool) -> list[Ranked]:
    """The best `k` rows for each row of `queries`; higher is better, of equal ones the first added."""
    k = min(k, len(rows))
    if k <= 0:
        return [Ranked(np.empty(0, np.intp), np.empty(0, np.float32)) for _ in queries]
    return [
        ranked
        for start in range(0, len(queries), _BLOCK_QUERIES)
        for ranked in _search(rows, queries[start : start + _BLOCK_QUERIES], k, l2)
    ]


def _search(rows: VectorRows, queries: Floats, k: int, l2: bool) -> Iterator[Ranked]:
    screens = [_Screen(rows, query, k, l2) for query in queries]
    if all(screen.holds for screen in screens):
        for start in range(0, len(rows.ids), _BLOCK_ROWS):
            block = slice(start, start + _BLOCK_ROWS)
            values = queries @ rows.matrix[block].T
            values += rows.bias[block]
            for screen, of_query in zip(screens, values, strict=True):
                screen.feed(start, of_query)
        candidates = [screen.candidates() for screen in screens]
    else:
        everything = np.fromiter(rows.slots.values(), np.intp, len(rows))
        candidates = [everything] * len(screens)
    for query, slots in zip(queries, candidates, strict=True):
        yield _ranked(rows, query, slots, k, l2)


class _Screen:
    """Which rows could be among the best `k` of one query, from the float32 values of all."""

    def __init__(self, rows: VectorRows, query: Floats, k: int, l2: bool) -> None:
        length = float(np.sqrt(np.dot(query.astype(np.float64), query)))
        reach = length * rows.greatest_norm
        of_bias = rows.greatest_norm**2 / 2 if l2 else 0.0
        self.holds = max(reach, length**2, 2 * of_bias) < _HOLDS
        sums = (rows.dimension + 2) * _ROUNDING
        self._error = sums / (1 - sums) * reach + 4 * _ROUNDING * (reach + of_bias)
        self._error += (rows.dimension + 2) * _TINY  # of what is rounded to nothing
        self._square = length**2 if l2 else None
        self._k = k
        self._threshold = -np.inf
        self._slots: list[Slots] = []
        self._values: list[Floats] = []

    def feed(self, start: int, values: Floats) -> None:
        """The values of the rows from slot `start` on; those of holes are minus infinity."""
        self._threshold = max(self._threshold, _reached_by(values, self._k))
        found = np.flatnonzero(values >= self._lowest(self._threshold))
        self._slots.append(found + start)
        self._values.append(values[found])

    def candidates(self) -> Slots:
        """Their slots, in order."""
        slots, values = np.concatenate(self._slots), np.concatenate(self._values)
        best = np.partition(values, len(values) - self._k)[len(values) - self._k]
        return slots[values >= self._lowest(float(best))]

    def _lowest(self, reached: float) -> np.float32:
        """What a row must have to be no worse than `k` that have `reached`; finite, so that no hole has it."""
        if reached == -np.inf:
            return np.finfo(np.float32).min
        certain = reached - self._error
        if self._square is None:
            tied = abs(certain) * _TIE
        else:  # a score is 1 / (1 + square - 2 value)
            tied = (1 + max(0.0, self._square - 2 * certain)) * _TIE
        lowest = certain - tied - self._error
        rounded: np.float32 = np.nextafter(np.float32(lowest), np.float32(-np.inf))
        return rounded


def _reached_by(values: Floats, k: int) -> float:
    """A value that at least `k` of these reach, the greatest one or a little less; minus infinity if none."""
    strips = len(values) // _STRIP
    if strips >= 2 * k:  # the best of each strip, which is read once
        values = values[: strips * _STRIP].reshape(strips, _STRIP).max(axis=1)
    if len(values) < k:
        return -np.inf
    return float(np.partition(values, len(values) - k)[len(values) - k])


def _ranked(rows: VectorRows, query: Floats, slots: Slots, k: int, l2: bool) -> Ranked:
    """By their float32 scores, computed in float64 with the same order of summation for every row."""
    exact = query.astype(np.float64)
    scores = np.concatenate(
        [
            _scores(rows.matrix[slots[start : start + _RESCORED_ROWS]], exact, l2)
            for start in range(0, len(slots), _RESCORED_ROWS)
        ]
    )
    order = np.lexsort((slots, -scores))[:k]
    return Ranked(slots[order], scores[order])


def _scores(vectors: Floats, query: Doubles, l2: bool) -> Floats:
    doubles: NDArray[Any] = vectors.astype(np.float64)
    if l2:
        doubles -= query
        doubles *= doubles
    else:
        doubles *= query
    scores = doubles.sum(axis=1)
    with np.errstate(over="ignore"):  # a product that float32 cannot hold is infinite, as in C
        rounded: Floats = (1.0 / (1.0 + scores) if l2 else scores).astype(np.float32)
    return rounded
