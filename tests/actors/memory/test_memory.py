"""Memory: what was kept is found, by words and by meaning, whatever else goes on."""

from __future__ import annotations

import asyncio
import hashlib
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from actors.errors import DatabaseError, EmbeddingMismatch, InvalidArgument, ModelError
from actors.memory import (
    Added,
    ChunkOptions,
    CollectionStats,
    EmbeddingModel,
    MemoryRef,
    open_memory,
)
from actors.store import STANDARD_TABLES, Store, open_store
from actors.testing import JsonReply, RecordedRequest, Reply, ScriptedModelServer
from runtime import ActorSystem

LIMIT_S = 30.0
MEANINGS = ("cat dog pet animal", "car bus vehicle road", "tea soup food eat")


def embed(request: RecordedRequest) -> Reply:
    """What a text is about: a number for each meaning, and a little of its own."""
    return JsonReply({"data": [{"embedding": vector(text)} for text in request.json["input"]]})


def vector(text: str) -> list[float]:
    """Of dimension 4."""
    words = re.findall(r"\w+", text.lower())
    own = hashlib.sha256(text.encode()).digest()[0] / 10_000 + 0.001
    return [float(sum(word in meaning.split() for word in words)) for meaning in MEANINGS] + [own]


@pytest.fixture
def server() -> Iterator[ScriptedModelServer]:
    """That embeds."""
    with ScriptedModelServer(routes={"POST /embeddings": embed}) as running:
        yield running


@pytest.fixture
def system() -> Iterator[ActorSystem]:
    """Ended after the test."""
    with ActorSystem() as running:
        yield running


@pytest.fixture
def store(system: ActorSystem, tmp_path: Path) -> Store:
    """With the standard tables."""
    return open_store(system, tmp_path / "a.db", migrations=STANDARD_TABLES)


@pytest.fixture
def memory(system: ActorSystem, store: Store, server: ScriptedModelServer) -> MemoryRef:
    """With an embedding model."""
    return open_memory(system, store, EmbeddingModel("meanings", server.base_url))


def sources(memory: MemoryRef, query: str, k: int = 5, **where: Any) -> list[str]:
    """Of what is found."""
    return [hit.source for hit in memory.search(query, k, **where)]


def test_what_is_meant_is_found_without_its_words(memory: MemoryRef) -> None:
    memory.add("the cat sleeps", source="a")
    memory.add("the bus is late", source="b")
    memory.add("soup of the day", source="c")
    assert sources(memory, "pet", 1) == ["a"]
    assert sources(memory, "vehicle", 1) == ["b"]


def test_words_that_no_model_knows_are_found(memory: MemoryRef) -> None:
    memory.add("the cat sleeps", source="a")
    memory.add("ticket XK-4711 is open", source="b")
    (best, *_) = memory.search("what of XK-4711?")
    assert (best.source, best.text, best.start) == ("b", "ticket XK-4711 is open", 0)


def test_without_a_model_words_find_whatever_their_case_and_accents(
    system: ActorSystem, store: Store
) -> None:
    memory = open_memory(system, store)
    memory.add("Café at the corner", source="a")
    memory.add("nothing of it", source="b")
    assert sources(memory, "CAFE") == ["a"]
    assert sources(memory, '"quoted" AND (NEAR* -x: café') == ["a"]
    assert sources(memory, "?!") == []
    assert sources(memory, "cafe", collection="other") == []
    assert sources(memory, "cafe", 0) == []


def test_a_document_of_the_same_source_takes_the_place_of_the_first(memory: MemoryRef) -> None:
    assert memory.add("the cat sleeps", source="a") == Added("a", 1)
    memory.add("the bus is late", source="a")
    assert sources(memory, "cat") == ["a"]  # by the rest of its meaning
    assert [hit.text for hit in memory.search("cat")] == ["the bus is late"]
    assert memory.stats() == [CollectionStats("notes", 1, 1, 15, "meanings", 4)]


def test_the_same_text_without_a_source_is_kept_once(memory: MemoryRef) -> None:
    first = memory.add("the cat sleeps")
    assert memory.add("the cat sleeps") == first
    assert memory.stats()[0].documents == 1


def test_what_is_forgotten_is_not_found(memory: MemoryRef) -> None:
    memory.add("the cat sleeps", source="a")
    memory.add("the dog sleeps", source="b")
    assert sources(memory, "cat dog", 2) == ["a", "b"] or sources(memory, "cat dog", 2) == [
        "b",
        "a",
    ]
    assert memory.forget("a")
    assert not memory.forget("a")
    assert sources(memory, "cat dog") == ["b"]


def test_collections_know_nothing_of_each_other(memory: MemoryRef) -> None:
    memory.add("the cat sleeps", source="a", collection="one")
    memory.add("the dog sleeps", source="b", collection="two")
    assert sources(memory, "animal sleeps", collection="one") == ["a"]
    assert [each.name for each in memory.stats()] == ["one", "two"]


def test_a_long_text_is_found_where_it_speaks_of_it(
    system: ActorSystem, store: Store, server: ScriptedModelServer
) -> None:
    embedding = EmbeddingModel("meanings", server.base_url, batch=7)
    chunking = ChunkOptions(size=20, overlap=5)
    memory = open_memory(system, store, embedding, chunking=chunking)
    text = "\n\n".join(f"Part {n} tells of the road and the bus." for n in range(60))
    text += "\n\nAt last a dog."
    added = memory.add(text, source="long")
    assert added.chunks > 20
    assert "dog" in memory.search("animal", 1)[0].text
    hit = memory.search("Part 42", 1)[0]
    assert text[hit.start :].startswith(hit.text)


@pytest.mark.parametrize("other", ["another", ""])
def test_another_model_is_refused_for_adding_and_for_searching(
    system: ActorSystem, store: Store, memory: MemoryRef, server: ScriptedModelServer, other: str
) -> None:
    memory.add("the cat sleeps", source="a")
    asked = len(server.requests)
    model = EmbeddingModel(other, server.base_url) if other else None
    second = open_memory(system, store, model, name="second")
    for call in (lambda: second.add("x", source="b"), lambda: second.search("x")):
        with pytest.raises(EmbeddingMismatch, match="'notes' is of embedding model 'meanings'"):
            call()
    assert len(server.requests) == asked
    assert memory.stats()[0].documents == 1


def test_a_model_that_gives_other_dimensions_is_refused(system: ActorSystem, store: Store) -> None:
    def growing(request: RecordedRequest) -> Reply:
        size = 3 if request.json["input"] == ["first"] else 5
        return JsonReply({"data": [{"embedding": [1.0] * size}]})

    with ScriptedModelServer(routes={"POST /embeddings": growing}) as server:
        memory = open_memory(system, store, EmbeddingModel("m", server.base_url))
        memory.add("first", source="a")
        with pytest.raises(EmbeddingMismatch, match=r"dimension 3, model 'm' gives 5"):
            memory.add("second", source="b")
    assert memory.stats()[0].documents == 1


def test_nothing_is_kept_if_the_model_fails(system: ActorSystem, store: Store) -> None:
    def fail(_: RecordedRequest) -> Reply:
        return JsonReply({"error": {"message": "out of memory"}}, status=500)

    with ScriptedModelServer(routes={"POST /embeddings": fail}) as server:
        memory = open_memory(system, store, EmbeddingModel("m", server.base_url))
        with pytest.raises(ModelError, match="out of memory"):
            memory.add("the cat sleeps")
    with pytest.raises(ModelError):
        memory.add("the cat sleeps")
    assert memory.stats() == []


def test_a_vector_of_zeros_is_refused(system: ActorSystem, store: Store) -> None:
    def zeros(_: RecordedRequest) -> Reply:
        return JsonReply({"data": [{"embedding": [0.0, 0.0]}]})

    with ScriptedModelServer(routes={"POST /embeddings": zeros}) as server:
        memory = open_memory(system, store, EmbeddingModel("m", server.base_url))
        with pytest.raises(InvalidArgument, match="zero"):
            memory.add("the cat sleeps")
    assert memory.stats() == []


@pytest.mark.parametrize("text", ["", " \n"])
def test_a_text_or_query_that_says_nothing_is_refused(memory: MemoryRef, text: str) -> None:
    with pytest.raises(InvalidArgument, match="says nothing"):
        memory.add(text)
    with pytest.raises(InvalidArgument, match="says nothing"):
        memory.search(text)
    with pytest.raises(InvalidArgument, match="collection"):
        memory.add("x", collection=text)
    with pytest.raises(InvalidArgument, match="k is -1"):
        memory.search("x", -1)


def test_many_add_and_search_at_once(memory: MemoryRef) -> None:
    async def main() -> None:
        adds = [memory.aadd(f"cat number {n}", source=str(n)) for n in range(60)]
        searches = [memory.asearch("cat", 3) for _ in range(20)]
        await asyncio.wait_for(asyncio.gather(*adds, *searches), LIMIT_S)

    asyncio.run(main())
    assert sorted(map(int, sources(memory, "cat", 100))) == list(range(60))
    gone = threading.Thread(target=lambda: [memory.forget(str(n)) for n in range(0, 60, 2)])
    gone.start()
    gone.join(LIMIT_S)
    assert sorted(map(int, sources(memory, "cat", 100))) == list(range(1, 60, 2))


def test_it_is_there_in_the_next_process_and_after_the_store_began_anew(
    tmp_path: Path, server: ScriptedModelServer
) -> None:
    embedding = EmbeddingModel("meanings", server.base_url)
    path = tmp_path / "b.db"
    with ActorSystem() as system:
        store = open_store(system, path, migrations=STANDARD_TABLES)
        open_memory(system, store, embedding).add("the cat sleeps", source="a")
    with ActorSystem() as system:
        store = open_store(system, path, migrations=STANDARD_TABLES)
        memory = open_memory(system, store, embedding)
        assert sources(memory, "pet") == ["a"]
        path.unlink()
        with pytest.raises(DatabaseError, match="has gone"):
            memory.add("the bus is late", source="b")
        memory.add("the bus is late", source="c")
        assert sources(memory, "vehicle") == ["c"]
