"""Migrations: what is checked before anything runs, what stays after a failure, two programs at once."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from actors.errors import DatabaseError
from actors.store import Database, Migration

ONE = Migration.from_sql(1, "notes", "CREATE TABLE notes (body)")
THREE = Migration.from_sql(3, "tags", "CREATE TABLE tags (name); INSERT INTO tags VALUES ('a')")


def test_steps_are_applied_once(tmp_path: Path) -> None:
    with Database(tmp_path / "a.db") as db:
        assert db.migrate([ONE]) == [1]
        assert db.migrate([ONE, THREE]) == [3]
        assert db.migrate([ONE, THREE]) == []
        assert db.user_version == 3
        assert db.query("SELECT name FROM tags") == [("a",)]


@pytest.mark.parametrize("versions", [(0,), (-1,), (2, 1), (1, 1), (2**31,)])
def test_steps_out_of_order_are_refused_before_anything_is_run(versions: tuple[int, ...]) -> None:
    steps = [Migration.from_sql(n, "step", "CREATE TABLE t (a)") for n in versions]
    with Database.in_memory() as db:
        with pytest.raises(DatabaseError, match=r"\(step\) is out of order"):
            db.migrate(steps)
        assert not db.table_exists("t")


def test_a_newer_database_is_refused_and_an_empty_list_is_not() -> None:
    with Database.in_memory() as db:
        db.user_version = 9
        with pytest.raises(DatabaseError, match=r"at version 9, newer than the last .* here, 3"):
            db.migrate([ONE, THREE])
        assert db.migrate([]) == []


def test_a_failed_step_leaves_those_before_it_and_names_its_cause() -> None:
    def broken(db: Database) -> None:
        db.execute("CREATE TABLE half (a)")
        raise LookupError("no such moon")

    with Database.in_memory() as db:
        with pytest.raises(
            DatabaseError, match=r"version 2 \(moons\) failed.*: no such moon"
        ) as caught:
            db.migrate([ONE, Migration(2, "moons", broken), THREE])
        assert isinstance(caught.value.__cause__, LookupError)
        assert db.user_version == 1
        assert not db.table_exists("half")
        assert db.migrate([ONE, THREE]) == [3]


def test_programs_that_migrate_at_once_apply_each_step_once(tmp_path: Path) -> None:
    steps = [
        Migration.from_sql(n, "row", "CREATE TABLE IF NOT EXISTS t (a); INSERT INTO t VALUES (1)")
        for n in range(1, 30)
    ]
    applied: list[int] = []
    ready = threading.Barrier(4)

    def migrate() -> None:
        with Database(tmp_path / "a.db") as db:
            ready.wait(30)
            applied.extend(db.migrate(steps))

    threads = [threading.Thread(target=migrate) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(applied) == list(range(1, 30))


@pytest.mark.parametrize(
    "definition",
    ["b TEXT", '"we""ird" INT', "`tick``` INT", "[bra cket] INT", "'q''uote' INT", "B"],
)
def test_a_column_is_added_once(definition: str) -> None:
    with Database.in_memory() as db:
        db.execute('CREATE TABLE "my table" (a)')
        assert db.add_column_if_missing("my table", definition)
        assert not db.add_column_if_missing("my table", definition)


def test_a_column_of_no_table_and_no_column_are_told() -> None:
    with Database.in_memory() as db:
        db.execute("CREATE TABLE t (a); CREATE VIEW v AS SELECT a FROM t")
        with pytest.raises(DatabaseError, match="no such table: nosuch"):
            db.add_column_if_missing("nosuch", "b")
        with pytest.raises(DatabaseError, match="definition is empty"):
            db.add_column_if_missing("t", "  ")
        assert db.table_exists("v")
        assert not db.table_exists("T")
        assert db.column_exists("t", "A")
        assert not db.column_exists("nosuch", "a")
