"""Sessions in a real store."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from actors.errors import InvalidArgument, SessionError
from actors.model.message import Message, ToolCall
from actors.sessions import Session, Sessions
from actors.store import STANDARD_TABLES, Store, open_store
from runtime import ActorSystem


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with ActorSystem() as system:
        yield open_store(system, tmp_path / "a.db", migrations=STANDARD_TABLES)


def said(text: str) -> list[Message]:
    return [Message("user", text), Message("assistant", tool_calls=(ToolCall("1", "f", "{}"),))]


def test_what_is_saved_is_loaded(store: Store) -> None:
    sessions = Sessions(store, "clerk")
    sessions.save("a", said("hello"))
    assert sessions.load("a").messages == tuple(said("hello"))
    sessions.save("a", said("hello again"))
    assert sessions.load("a").messages == tuple(said("hello again"))


def test_each_agent_has_its_own(store: Store) -> None:
    Sessions(store, "clerk").save("a", said("hello"))
    other = Sessions(store, "cook")
    assert not other.exists("a")
    assert not other.remove("a")
    assert other.list() == []
    with pytest.raises(SessionError, match="'cook' has no session 'a'"):
        other.load("a")


def test_the_one_saved_last_is_listed_first(store: Store) -> None:
    sessions = Sessions(store, "clerk")
    for day in (2, 3, 1):
        at = datetime(2026, 1, day, tzinfo=UTC)
        sessions.put(Session(f"day-{day}", at, tuple(said(f"day {day}"))))
    listed = sessions.list()
    assert [each.id for each in listed] == ["day-3", "day-2", "day-1"]
    assert (listed[0].messages, listed[0].preview) == (2, "day 3")
    assert listed[0].saved_at == datetime(2026, 1, 3, tzinfo=UTC)


def test_what_is_removed_is_gone(store: Store) -> None:
    sessions = Sessions(store, "clerk")
    sessions.save("a", said("hello"))
    assert sessions.remove("a")
    assert not sessions.remove("a")
    assert not sessions.exists("a")


def test_new_ids_are_not_taken(store: Store) -> None:
    sessions = Sessions(store, "clerk")
    ids = {sessions.save(sessions.new_id(), said("hello")).id for _ in range(5)}
    assert len(ids) == 5


def test_an_id_that_is_none_is_refused(store: Store) -> None:
    sessions = Sessions(store, "clerk")
    with pytest.raises(InvalidArgument):
        sessions.save("../a", [])
    with pytest.raises(InvalidArgument):
        sessions.load("")
