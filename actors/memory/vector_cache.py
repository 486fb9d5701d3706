"""`VectorCache`: indexes over the vectors in a store, which follow what is written there.

The database has the truth, an index is made of it: before a search it takes what was added and drops what was
removed since. So it needs no word from those who write, and nothing is wrong after a crash of either side.
"""

from __future__ import annotations

from functools import partial
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from actors.memory.documents import Collection
from actors.store.database import Database
from actors.store.store import Store
from actors.store.vector_index import VectorIndex, VectorOptions

_PAGE: Final = 4_096


class _Page(Struct, frozen=True):
    """What came after what is known; `epoch` is another one if the store has begun anew."""

    epoch: str
    ids: list[str]
    vectors: list[bytes]
    last_chunk: int
    removed: list[str]
    last_removal: int


class _Followed(Struct):
    """An index, and how far it has followed the database."""

    index: VectorIndex
    epoch: str
    last_chunk: int = 0
    last_removal: int = 0


class VectorCache:
    """See the module. Belongs to one thread, which waits for the store: not that of the loop."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._followed: dict[str, _Followed] = {}

    def near(self, collection: Collection, query: ArrayLike, limit: int) -> list[int]:
        """Ids of the nearest chunks, best first."""
        followed = self._up_to_date(collection)
        return [int(match.id) for match in followed.index.search(query, limit)]

    def _up_to_date(self, collection: Collection) -> _Followed:
        while True:
            followed = self._followed.get(collection.name)
            if followed is None:
                followed = self._followed[collection.name] = self._begun(collection)
            work = partial(_page_after, collection.name, followed.last_chunk, followed.last_removal)
            page = self._store.read(work)
            if page.epoch != followed.epoch or followed.index.dimension != collection.dimension:
                del self._followed[collection.name]
            elif _take(followed, page, collection.dimension) < _PAGE:
                return followed

    def _begun(self, collection: Collection) -> _Followed:
        options = VectorOptions(
            metric="inner_product", normalize=True, dimension=collection.dimension
        )
        epoch, removal = self._store.read(_beginning)
        return _Followed(VectorIndex(options), epoch, last_removal=removal)


def _take(followed: _Followed, page: _Page, dimension: int) -> int:
    """How many vectors were added."""
    matrix = np.frombuffer(b"".join(page.vectors), "<f4").reshape(-1, dimension)
    followed.index.add_many(page.ids, matrix)
    for id_ in page.removed:
        followed.index.remove(id_)
    followed.last_chunk = page.last_chunk
    followed.last_removal = page.last_removal
    return len(page.ids)


def _beginning(db: Database) -> tuple[str, int]:
    """What was removed before the first vector is read needs no removal."""
    epoch = db.query("SELECT value FROM store_epoch")[0][0]
    return epoch, db.query("SELECT coalesce(max(id), 0) FROM memory_removals")[0][0]


def _page_after(collection: str, last_chunk: int, last_removal: int, db: Database) -> _Page:
    added = db.query(
        "SELECT id, vector FROM memory_chunks WHERE collection = ? AND id > ? AND vector IS NOT NULL"
        " ORDER BY id LIMIT ?",
        collection,
        last_chunk,
        _PAGE,
    )
    removed = db.query(
        "SELECT id, chunk FROM memory_removals WHERE id > ? AND collection = ? ORDER BY id",
        last_removal,
        collection,
    )
    return _Page(
        epoch=db.query("SELECT value FROM store_epoch")[0][0],
        ids=[str(key) for key, _ in added],
        vectors=[vector for _, vector in added],
        last_chunk=added[-1][0] if added else last_chunk,
        removed=[str(chunk) for _, chunk in removed],
        last_removal=removed[-1][0] if removed else last_removal,
    )
