"""Reciprocal rank fusion: one ranking from several, by ranks alone, so that scores need not be comparable.

G. Cormack, C. Clarke, S. Buettcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning
methods", SIGIR 2009: an item gets 1 / (60 + rank) from each ranking it is in, the best rank being 1.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final, TypeVar

T = TypeVar("T", bound=Hashable)

RANK_CONSTANT: Final = 60


def fuse(rankings: Sequence[Sequence[T]]) -> list[tuple[T, float]]:
    """Every item of the rankings with its score, the best first; equal ones in order of appearance."""
    scores: dict[T, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, 1):
            scores[item] = scores.get(item, 0.0) + 1 / (RANK_CONSTANT + rank)
    return sorted(scores.items(), key=lambda pair: -pair[1])
