"""`greenroom memory add|search|stats`, as a process of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from actors.store.location import default_store_path
from actors.testing import JsonReply, RecordedRequest, Reply, ScriptedModelServer
from tests.actors.cli.program import run_command


def memory(store: Path, *words: str, stdin: str = "") -> tuple[int, str, str]:
    """Exit code and what was said."""
    done = run_command(["memory", *words, "--store", str(store)], stdin=stdin)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


def test_files_are_kept_and_found_in_a_later_process(tmp_path: Path) -> None:
    store, note = tmp_path / "new" / "a.db", tmp_path / "ünï.md"
    note.write_text("The stage is swept at six.", encoding="utf-8")
    assert memory(store, "add", str(note)) == (0, f"{note}: 1 chunk\n", "")
    assert memory(store, "add", "-", "--source", "talk", stdin="Hats are green.")[0] == 0
    code, said, _ = memory(store, "search", "when is it SWEPT?")
    assert code == 0
    assert said.startswith(f"{note} (from 0):\n    The stage is swept at six.\n")
    code, said, _ = memory(store, "search", "hats", "--json", "-k", "1")
    (hit,) = json.loads(said)
    assert (hit["text"], hit["source"]) == ("Hats are green.", "talk")
    assert memory(store, "stats")[1] == (
        "notes: 2 documents, 2 chunks, 41 characters; words only\n"
    )


def test_what_is_no_text_is_told_and_the_others_are_kept(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"\0")
    (tmp_path / "empty.md").write_text(" \n", encoding="utf-8")
    (tmp_path / "b.md").write_text("kept", encoding="utf-8")
    files = [str(tmp_path / name) for name in ("a.bin", "empty.md", "missing", "b.md")]
    code, said, complaints = memory(tmp_path / "a.db", "add", *files)
    assert (code, said) == (1, f"{tmp_path / 'b.md'}: 1 chunk\n")
    assert ["binary" in complaints, "says nothing" in complaints, "cannot read" in complaints] == [
        True
    ] * 3


def test_nothing_found_is_said(tmp_path: Path) -> None:
    store = tmp_path / "a.db"
    memory(store, "add", "-", stdin="something")
    assert memory(store, "search", "else") == (1, "nothing was found\n", "")
    assert memory(store, "search", "else", "--json") == (0, "[]\n", "")
    assert memory(store, "search", "something", "--collection", "other")[0] == 1


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["search", "x"], "there is no store at"),
        (["stats"], "there is no store at"),
        (["add", "-", "--embeddings-url", "http://x/v1"], "give both"),
        (["add", "a", "b", "--source", "c"], "names one text"),
    ],
)
def test_wrong_use_is_told_and_makes_nothing(tmp_path: Path, words: list[str], why: str) -> None:
    code, said, complaints = memory(tmp_path / "a.db", *words)
    assert (code, said) == (2, "")
    assert why in complaints


def test_a_file_that_is_no_store_is_refused_and_left(tmp_path: Path) -> None:
    (tmp_path / "diary.txt").write_text("dear diary", encoding="utf-8")
    code, _, complaints = memory(tmp_path / "diary.txt", "stats")
    assert code == 1
    assert "not a database" in complaints
    assert (tmp_path / "diary.txt").read_text(encoding="utf-8") == "dear diary"


def test_an_embedding_model_is_asked_and_kept_to(tmp_path: Path) -> None:
    def embed(request: RecordedRequest) -> Reply:
        return JsonReply(
            {"data": [{"embedding": [len(text), 1.0]} for text in request.json["input"]]}
        )

    store = tmp_path / "a.db"
    with ScriptedModelServer(routes={"POST /embeddings": embed}) as server:
        model = ["--embeddings-url", server.base_url, "--embeddings-model", "sizes"]
        assert memory(store, "add", "-", *model, stdin="four")[0] == 0
        assert memory(store, "search", "same", *model)[1].startswith("stdin (from 0):")
    assert memory(store, "stats")[1].endswith("sizes, dimension 2\n")
    code, _, complaints = memory(store, "search", "four")
    assert code == 1
    assert "collection 'notes' is of embedding model 'sizes', and none is in use" in complaints
    code, _, complaints = memory(store, "search", "four", *model)
    assert code == 1
    assert server.base_url in complaints


def test_where_the_store_is_if_nobody_says(tmp_path: Path) -> None:
    home = Path.home() / ".local" / "share" / "greenroom" / "store.db"
    assert default_store_path({}) == home
    assert default_store_path({"XDG_DATA_HOME": "relative"}) == home
    assert default_store_path({"XDG_DATA_HOME": "/data"}) == Path("/data/greenroom/store.db")
    chosen = {"XDG_DATA_HOME": "/data", "GREENROOM_DATA_DIR": str(tmp_path)}
    assert default_store_path(chosen) == tmp_path / "store.db"
