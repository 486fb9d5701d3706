"""The always-allow file, on a real disk."""

from __future__ import annotations

import json
import logging
import stat
import threading
from pathlib import Path

import pytest

from actors.tools.allow_store import AllowStore, default_store_path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "security" / "allowed_tools.json"


def test_the_file_is_sorted_indented_and_has_a_version(path: Path) -> None:
    store = AllowStore(path)
    for name in ("b", "a", "a"):
        store.add(name)
    expected = '{\n  "version": 1,\n  "allowed_tools": [\n    "a",\n    "b"\n  ]\n}'
    assert path.read_text(encoding="utf-8") == expected
    assert store.all_allowed() == AllowStore(path).all_allowed() == ["a", "b"]


def test_every_change_is_written_through(path: Path) -> None:
    store = AllowStore(path)
    store.add("a")
    assert AllowStore(path).is_always_allowed("a")
    store.remove("a")
    store.remove("never there")
    assert not AllowStore(path).is_always_allowed("a")
    store.add("b")
    store.clear_all()
    assert json.loads(path.read_text(encoding="utf-8")) == {"version": 1, "allowed_tools": []}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not json {{{",
        b'{"allowed_tools": "x"}',
        b'{"allowed_tools": {"x": 1}}',
        b'["x"]',
        b"3",
        b'{"version": 1}',
        b'{"allowed_tools": ["\xff"]}',
        b"[" * 100_000,
    ],
    ids=["empty", "no json", "text", "object", "array", "number", "no list", "no utf-8", "deep"],
)
def test_a_file_of_another_shape_allows_nothing_and_says_so(
    path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    assert AllowStore(path).all_allowed() == []
    assert "allow_store_unreadable" in caplog.text
    assert str(path) in caplog.text


def test_a_missing_file_allows_nothing_and_is_not_made(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert AllowStore(path).all_allowed() == []
    assert not path.parent.exists()
    assert not caplog.records


def test_names_that_are_no_text_are_passed_over(path: Path) -> None:
    path.parent.mkdir()
    path.write_text('{"allowed_tools": ["a", 1, null, ["b"], "c"]}', encoding="utf-8")
    assert AllowStore(path).all_allowed() == ["a", "c"]


def test_the_file_is_replaced_whole_and_nothing_lies_beside_it(path: Path) -> None:
    store = AllowStore(path)
    store.add("a")
    with path.open(encoding="utf-8") as before:
        store.add("b")
        assert json.loads(before.read())["allowed_tools"] == ["a"]
    assert [each.name for each in path.parent.iterdir()] == ["allowed_tools.json"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_another_process_changed_is_kept(path: Path) -> None:
    ours, theirs = AllowStore(path), AllowStore(path)
    theirs.add("theirs")
    theirs.add("taken back")
    ours.add("ours")
    theirs.remove("taken back")
    ours.add("more")
    assert ours.all_allowed() == AllowStore(path).all_allowed() == ["more", "ours", "theirs"]


def test_a_change_that_cannot_be_written_is_a_warning_and_holds_here(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path.mkdir(parents=True)  # a folder stands where the file should
    store = AllowStore(path)
    store.add("a")
    store.add("b")
    assert store.all_allowed() == ["a", "b"]
    assert [each.name for each in path.parent.iterdir()] == ["allowed_tools.json"]
    warnings = [each for each in caplog.records if "allow_store_not_written" in each.getMessage()]
    assert [each.levelno for each in warnings] == [logging.WARNING] * 2
    path.rmdir()
    store.add("c")
    assert AllowStore(path).all_allowed() == ["a", "b", "c"]


def test_many_threads_may_change_it(path: Path) -> None:
    store = AllowStore(path)
    names = [f"tool-{number}" for number in range(12)]
    threads = [threading.Thread(target=store.add, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert AllowStore(path).all_allowed() == sorted(names)


@pytest.mark.parametrize(
    ("home", "parent"), [("/somewhere", "/somewhere"), ("", "/tmp"), (None, "/tmp")]
)
def test_it_lies_in_the_home_of_the_environment(
    home: str | None, parent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HOME", raising=False)
    if home is not None:
        monkeypatch.setenv("HOME", home)
    assert default_store_path() == Path(parent, ".gaia/security/allowed_tools.json")
