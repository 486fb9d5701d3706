"""`Memory`: documents of agents, found by their words and by their meaning (an actor, over a store).

    with ActorSystem() as system:
        store = open_store(system, "agents.db", migrations=STANDARD_TABLES)
        memory = open_memory(system, store, EmbeddingModel("e5-small", "http://localhost:8000/v1"))
        memory.add("The stage is swept at six.", source="rules.md")
        for hit in memory.search("when is the stage cleaned?"):
            print(hit.source, hit.text)

A text is cut into chunks; each is kept with its words (SQLite's FTS5) and, with an embedding model, its vector. A
search ranks by both and fuses the rankings. Without a model it goes by the words alone. Adding and searching run
beside each other, and on the loop nothing blocks.
"""

from __future__ import annotations

import hashlib
from functools import partial
from typing import Any, ClassVar, Final, cast

import numpy as np
from msgspec import Struct

from actors.errors import AgentError, InvalidArgument
from actors.memory.chunking import Chunk, ChunkOptions, chunk_text
from actors.memory.documents import (
    Collection,
    CollectionStats,
    Document,
    MemoryHit,
    check_model,
    collection_stats,
    find_by_words,
    find_collection,
    hits,
    put_document,
    remove_document,
)
from actors.memory.fusion import fuse
from actors.memory.vector_cache import VectorCache
from actors.model.embeddings import Embedder, EmbeddingModel, HttpEmbedder
from actors.model.gateway import ServerAddress, shared_provider
from actors.store.database import Database
from actors.store.store import Store
from actors.store.vector_index import VectorIndex, VectorOptions
from runtime import Actor, ActorDeadError, ActorRef, ActorSystem, Reply

COLLECTION: Final = "notes"
"""The collection that is meant where none is named."""

_DEPTH: Final = 4
_LEAST_DEPTH: Final = 50


class AddText(Struct, frozen=True):
    """Keep a text; the answer is an `Added`."""

    collection: str
    source: str
    text: str


class Search(Struct, frozen=True):
    """Look for chunks; the answer is a list of `MemoryHit`."""

    collection: str
    query: str
    k: int


class Forget(Struct, frozen=True):
    """Remove a document; the answer is whether there was one."""

    collection: str
    source: str


class CountAll(Struct, frozen=True):
    """What there is; the answer is a list of `CollectionStats`."""


class Added(Struct, frozen=True):
    """A document is kept: what it is called, and in how many chunks."""

    source: str
    chunks: int


class MemoryRef(ActorRef[Any]):
    """A reference to a `Memory`. Plain methods block; their twins with an `a` are awaitable from any loop.

    All raise AgentError: DatabaseError from the store, ModelError from the embedding model's server,
    EmbeddingMismatch where a collection is of another model than the memory.
    """

    __slots__ = ()

    def add(self, text: str, *, source: str = "", collection: str = COLLECTION) -> Added:
        """Keep a text, in the place of one of the same source.

        Without a source it is called by its content, so the same text is kept once. Nothing is kept unless
        all is. Raises InvalidArgument for a text that says nothing.
        """
        return cast("Added", self.ask(_add(text, source, collection)))

    def aadd(self, text: str, *, source: str = "", collection: str = COLLECTION) -> Reply[Added]:
        """The awaitable twin of `add`."""
        return self.aask(_add(text, source, collection))

    def search(self, query: str, k: int = 5, *, collection: str = COLLECTION) -> list[MemoryHit]:
        """The best `k` chunks, best first; none if there is no such collection.

        Raises InvalidArgument: the query says nothing, or `k` is negative.
        """
        return cast("list[MemoryHit]", self.ask(_search(query, k, collection)))

    def asearch(
        self, query: str, k: int = 5, *, collection: str = COLLECTION
    ) -> Reply[list[MemoryHit]]:
        """The awaitable twin of `search`."""
        return self.aask(_search(query, k, collection))

    def forget(self, source: str, *, collection: str = COLLECTION) -> bool:
        """Remove a document; whether there was one."""
        return bool(self.ask(Forget(collection, source)))

    def aforget(self, source: str, *, collection: str = COLLECTION) -> Reply[bool]:
        """The awaitable twin of `forget`."""
        return self.aask(Forget(collection, source))

    def stats(self) -> list[CollectionStats]:
        """What is in every collection, by name."""
        return cast("list[CollectionStats]", self.ask(CountAll()))

    def astats(self) -> Reply[list[CollectionStats]]:
        """The awaitable twin of `stats`."""
        return self.aask(CountAll())


class Memory(Actor):
    """See the module."""

    ref_class: ClassVar[type[ActorRef[Any]]] = MemoryRef
    expected_errors: ClassVar[tuple[type[BaseException], ...]] = (AgentError, ActorDeadError)

    def __init__(
        self, store: Store, embedding: EmbeddingModel | None, chunking: ChunkOptions
    ) -> None:
        super().__init__()
        self._store = store
        self._embedding = embedding
        self._chunking = chunking
        self._vectors = VectorCache(store)
        self._thread: Any = None
        self._threads: Any = None

    def on_start(self) -> None:
        """Prepare the threads: one for the indexes, others to cut texts."""
        name = f"{self.system.name}-memory"
        self._thread = self.system.worker_threads(f"{name}-vectors", limit=1)
        self._threads = self.system.worker_threads(f"{name}-texts", limit=2)

    def on_stop(self) -> None:
        """Let the threads end."""
        for threads in (self._thread, self._threads):
            if threads is not None:
                threads.close()

    def on_failure(self, *_: object) -> None:
        """The same."""
        self.on_stop()

    def on_receive(self, message: Any) -> Any:
        """All beside each other; the mailbox is free at once."""
        match message:
            case AddText():
                return self.background(self._add(message), label="add")
            case Search():
                return self.background(self._search(message), label="search")
            case Forget(collection, source):
                forgetting = self._store.awrite(lambda db: remove_document(db, collection, source))
                return self.background(forgetting, label="forget")
            case CountAll():
                return self.background(self._store.aread(collection_stats), label="stats")
        return super().on_receive(message)

    # -- steps ------------------------------------------------------------------------------------

    @property
    def _model(self) -> str:
        return self._embedding.model if self._embedding else ""

    async def _add(self, asked: AddText) -> Added:
        find = partial(_find_of_model, asked.collection, self._model)
        await self._store.aread(find)  # so that nothing is embedded in vain
        chunks: list[Chunk] = await self._threads.run(chunk_text, asked.text, self._chunking)
        vectors, dimension = None, 0
        if self._embedding is not None:
            embedder = await self._embedder(self._embedding)
            given = await embedder.embed([chunk.text for chunk in chunks], "document")
            vectors, dimension = await self._threads.run(_kept_form, given)
        collection = Collection(asked.collection, self._model, dimension)
        document = Document(asked.source, chunks, vectors)
        await self._store.awrite(lambda db: put_document(db, collection, document))
        return Added(asked.source, len(chunks))

    async def _search(self, asked: Search) -> list[MemoryHit]:
        depth = max(asked.k * _DEPTH, _LEAST_DEPTH)
        find = partial(_find_with_words, asked, self._model, depth)
        collection, by_words = await self._store.aread(find)
        if collection is None or not asked.k:
            return []
        rankings = [by_words]
        if self._embedding is not None:
            embedder = await self._embedder(self._embedding)
            (query,) = await embedder.embed([asked.query], "query")
            rankings.append(await self._thread.run(self._vectors.near, collection, query, depth))
        best = fuse(rankings)[: asked.k]
        return await self._store.aread(lambda db: hits(db, best))

    async def _embedder(self, embedding: EmbeddingModel) -> Embedder:
        address = ServerAddress("openai", embedding.base_url, embedding.api_key)
        shared = await shared_provider(self.system, address)
        return HttpEmbedder(shared.http, embedding)


_DEFAULT = ChunkOptions()


def open_memory(
    system: ActorSystem,
    store: Store,
    embedding: EmbeddingModel | None = None,
    *,
    chunking: ChunkOptions = _DEFAULT,
    name: str = "memory",
) -> MemoryRef:
    """Start a memory over a store that has `STANDARD_TABLES`; it ends with the system.

    Raises NameTaken: the system has a memory of that name.
    """
    ref = system.spawn(Memory, store, embedding, chunking, name=name, restart="permanent")
    return cast("MemoryRef", ref)


def _add(text: str, source: str, collection: str) -> AddText:
    if not text.strip():
        raise InvalidArgument("the text to be kept says nothing")
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return AddText(_named(collection), source or f"note-{digest[:16]}", text)


def _search(query: str, k: int, collection: str) -> Search:
    if not query.strip():
        raise InvalidArgument("the query says nothing")
    if k < 0:
        raise InvalidArgument(f"k is {k}, expected 0 or more")
    return Search(_named(collection), query, k)


def _named(collection: str) -> str:
    if not collection.strip():
        raise InvalidArgument("the name of the collection is empty")
    return collection


def _kept_form(vectors: list[list[float]]) -> tuple[list[bytes], int]:
    """Of length 1, as float32. Raises InvalidArgument: one is all zeros, or not finite."""
    index = VectorIndex(VectorOptions(metric="inner_product", normalize=True))
    ids = [str(number) for number in range(len(vectors))]
    index.add_many(ids, np.asarray(vectors, np.float64))
    return [index.get(id_).astype("<f4").tobytes() for id_ in ids], index.dimension


def _find_of_model(name: str, model: str, db: Database) -> Collection | None:
    found = find_collection(db, name)
    check_model(found, model)
    return found


def _find_with_words(
    asked: Search, model: str, limit: int, db: Database
) -> tuple[Collection | None, list[int]]:
    """The collection, and its chunks by the query's words: one read."""
    found = _find_of_model(asked.collection, model, db)
    return found, find_by_words(db, asked.collection, asked.query, limit) if found else []
