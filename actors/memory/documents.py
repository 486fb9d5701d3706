"""Documents in a database: what is written and read of them, as functions of a `Database`.

Tables are those of `actors.store.standard_tables`. Nothing here waits for anything but the database.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from actors.errors import EmbeddingMismatch
from actors.memory.chunking import Chunk
from actors.store.database import Database

_WORD = re.compile(r"\w+")
_MOST_WORDS: Final = 64


class Collection(Struct, frozen=True):
    """A collection: the embedding model all its vectors are of (empty: it has none) and their dimension."""

    name: str
    model: str
    dimension: int


class Document(Struct, frozen=True):
    """A document to be kept: its chunks, and a vector for each as float32 bytes, or None without a model."""

    source: str
    chunks: Sequence[Chunk]
    vectors: Sequence[bytes] | None


class MemoryHit(Struct, frozen=True):
    """A chunk that was found: its text, the document it is of and where in that it begins; higher is better."""

    text: str
    source: str
    start: int
    score: float


class CollectionStats(Struct, frozen=True):
    """What is in a collection."""

    name: str
    documents: int
    chunks: int
    characters: int
    model: str
    dimension: int


def find_collection(db: Database, name: str) -> Collection | None:
    """None if there is none of that name."""
    rows = db.query("SELECT name, model, dimension FROM memory_collections WHERE name = ?", name)
    return Collection(*rows[0]) if rows else None


def check_model(found: Collection | None, model: str) -> None:
    """Raises EmbeddingMismatch: a collection is of another embedding model."""
    if found is not None and found.model != model:
        has = f"of embedding model {found.model!r}" if found.model else "without embeddings"
        wanted = f"{model!r} is in use" if model else "none is in use"
        raise EmbeddingMismatch(
            f"collection {found.name!r} is {has}, and {wanted}; use that model, or another collection"
        )


def put_document(db: Database, collection: Collection, document: Document) -> None:
    """Keep a document, in the place of one of the same source; the collection begins with its first.

    Raises EmbeddingMismatch: the collection is of another model, or of another dimension.
    """
    found = find_collection(db, collection.name)
    check_model(found, collection.model)
    if found is None:
        db.run(
            "INSERT INTO memory_collections VALUES (?, ?, ?)",
            collection.name,
            collection.model,
            collection.dimension,
        )
    elif document.chunks and found.dimension != collection.dimension:
        raise EmbeddingMismatch(
            f"collection {found.name!r} has vectors of dimension {found.dimension}, model "
            f"{collection.model!r} gives {collection.dimension} now; use another collection"
        )
    remove_document(db, collection.name, document.source)
    db.run(
        "INSERT INTO memory_documents (collection, source, added_at) VALUES (?, ?, ?)",
        collection.name,
        document.source,
        int(time.time()),
    )
    key = db.last_insert_rowid
    vectors: Sequence[bytes | None] = document.vectors or [None] * len(document.chunks)
    db.run_many(
        "INSERT INTO memory_chunks (collection, document, start, text, vector) VALUES (?, ?, ?, ?, ?)",
        [
            (collection.name, key, chunk.start, chunk.text, vector)
            for chunk, vector in zip(document.chunks, vectors, strict=True)
        ],
    )


def remove_document(db: Database, collection: str, source: str) -> bool:
    """Whether there was one."""
    db.run("DELETE FROM memory_documents WHERE collection = ? AND source = ?", collection, source)
    return db.changes > 0


def find_by_words(db: Database, collection: str, query: str, limit: int) -> list[int]:
    """Ids of the chunks that hold any of a query's words, best first, by BM25 (SQLite's FTS5).

    Nothing in a query has a meaning but its words, of which the first 64 count.
    """
    words = list(dict.fromkeys(_WORD.findall(query)))[:_MOST_WORDS]
    if not words:
        return []
    rows = db.query(
        "SELECT memory_chunks.id FROM memory_words JOIN memory_chunks ON memory_chunks.id = memory_words.rowid"
        " WHERE memory_words MATCH ? AND memory_chunks.collection = ?"
        " ORDER BY memory_words.rank, memory_chunks.id LIMIT ?",
        " OR ".join(f'"{word}"' for word in words),
        collection,
        limit,
    )
    return [key for (key,) in rows]


def hits(db: Database, ranked: Sequence[tuple[int, float]]) -> list[MemoryHit]:
    """What is shown of chunks, by their ids and scores; one that has gone meanwhile is left out."""
    found = []
    for key, score in ranked:
        rows = db.query(
            "SELECT text, source, start FROM memory_chunks"
            " JOIN memory_documents ON memory_documents.id = memory_chunks.document"
            " WHERE memory_chunks.id = ?",
            key,
        )
        found += [MemoryHit(text, source, start, score) for text, source, start in rows]
    return found


def collection_stats(db: Database) -> list[CollectionStats]:
    """Of every collection, by name."""
    rows = db.query(
        "SELECT c.name,"
        " (SELECT count(*) FROM memory_documents WHERE collection = c.name),"
        " (SELECT count(*) FROM memory_chunks WHERE collection = c.name),"
        " (SELECT coalesce(sum(length(text)), 0) FROM memory_chunks WHERE collection = c.name),"
        " c.model, c.dimension FROM memory_collections AS c ORDER BY c.name"
    )
    return [CollectionStats(*row) for row in rows]
