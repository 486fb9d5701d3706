"""The Database beside the cases of gaia/database: threads, two programs, bad files, errors that name the thing."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from actors.errors import DatabaseError, InvalidArgument
from actors.store import Database, DatabaseOptions, has_fts5, sqlite_version
from tests.source_tree import ROOT


def test_what_is_written_is_there_in_the_next_connection(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "er" / "ünï.db"
    with Database(path) as db:
        db.execute("CREATE TABLE t (a, b)")
        db.run("INSERT INTO t VALUES (?, ?)", "x\0y", b"")
        assert (db.last_insert_rowid, db.changes) == (1, 1)
    with Database(path) as db:
        assert db.query("SELECT * FROM t") == [("x\0y", b"")]


def test_other_programs_can_read_it(tmp_path: Path) -> None:
    with Database(tmp_path / "a.db") as db:
        db.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        other = sqlite3.connect(tmp_path / "a.db")
        assert other.execute("SELECT a FROM t").fetchall() == [(1,)]
        other.close()


def test_an_error_names_what_sqlite_said_its_code_the_database_and_the_statement(
    tmp_path: Path,
) -> None:
    path = str(tmp_path / "a.db")
    with Database(path) as db:
        db.execute("CREATE TABLE t (a UNIQUE); INSERT INTO t VALUES (1)")
        with pytest.raises(DatabaseError) as caught:
            db.run("INSERT INTO t VALUES (?)", 1)
    error = caught.value
    assert str(error) == (
        "cannot run the statement: UNIQUE constraint failed: t.a [code=19 SQLITE_CONSTRAINT]\n"
        f"  database: {path}\n  statement: INSERT INTO t VALUES (?)"
    )
    assert (error.code, error.extended_code, error.db_path) == (19, 2067, path)


def test_a_long_statement_is_clipped_in_the_message_and_whole_in_the_error() -> None:
    sql = f"SELECT nosuch /* {'x' * 5_000} */"
    with Database.in_memory() as db, pytest.raises(DatabaseError) as caught:
        db.query(sql)
    assert len(str(caught.value)) < 2_500
    assert caught.value.sql == sql


@pytest.mark.parametrize(
    "sql",
    ['SELECT "nosuch"', 'CREATE VIEW v AS SELECT "nosuch"', 'CREATE TABLE t (a DEFAULT "x")'],
)
def test_a_string_in_double_quotes_is_refused(sql: str) -> None:
    with Database.in_memory() as db, pytest.raises(DatabaseError):
        db.execute(f"{sql}; SELECT * FROM v")


@pytest.mark.parametrize(
    "content", [b"\0" * 4096, b"SQLite format 3\0" + b"\xff" * 8, "ü".encode()]
)
def test_a_file_that_is_no_database_is_told_and_left_as_it_is(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(content)
    with pytest.raises(DatabaseError, match=r"cannot open the database"):
        Database(path)
    assert path.read_bytes() == content


def test_a_directory_and_a_path_below_a_file_are_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    for path in (tmp_path, tmp_path / "file" / "a.db"):
        with pytest.raises(DatabaseError, match="cannot open the database"):
            Database(path)


def test_a_missing_file_may_be_an_error(tmp_path: Path) -> None:
    for options in (DatabaseOptions(create_if_missing=False), DatabaseOptions(read_only=True)):
        with pytest.raises(DatabaseError) as caught:
            Database(tmp_path / "sub" / "a.db", options)
        assert caught.value.code == 14
    assert not (tmp_path / "sub").exists()


def test_a_read_only_database_refuses_writes_and_sees_those_of_others(tmp_path: Path) -> None:
    with Database(tmp_path / "a.db") as writer:
        writer.execute("CREATE TABLE t (a)")
        with Database(tmp_path / "a.db", DatabaseOptions(read_only=True)) as reader:
            writer.run("INSERT INTO t VALUES (1)")
            assert reader.query("SELECT a FROM t") == [(1,)]
            with pytest.raises(DatabaseError) as caught:
                reader.run("INSERT INTO t VALUES (2)")
    assert caught.value.code == 8


@pytest.mark.parametrize(
    ("options", "level"),
    [
        (DatabaseOptions(), 1),
        (DatabaseOptions(durability="machine"), 2),
        (DatabaseOptions(wal_mode=False), 2),
    ],
)
def test_durability_is_the_level_of_synchronous(
    tmp_path: Path, options: DatabaseOptions, level: int
) -> None:
    with Database(tmp_path / "a.db", options) as db:
        assert db.query("PRAGMA synchronous") == [(level,)]


@pytest.mark.parametrize("value", [-1, 2**31])
def test_a_busy_timeout_that_cannot_be_is_refused(value: int) -> None:
    with pytest.raises(InvalidArgument, match="busy_timeout_ms"):
        DatabaseOptions(busy_timeout_ms=value)


def test_an_unknown_durability_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="durability is 'disk'"):
        DatabaseOptions(durability="disk")  # type: ignore[arg-type]


def test_a_locked_database_is_told_after_the_busy_timeout(tmp_path: Path) -> None:
    options = DatabaseOptions(busy_timeout_ms=10)
    with Database(tmp_path / "a.db") as one, Database(tmp_path / "a.db", options) as two:
        one.execute("CREATE TABLE t (a)")
        with one.transaction("immediate"), pytest.raises(DatabaseError) as caught:
            two.run("INSERT INTO t VALUES (1)")
    assert caught.value.code == 5


@pytest.mark.parametrize("value", [2**63, object(), "\ud800", [1]])
def test_a_value_that_cannot_be_stored_is_told(value: object) -> None:
    with Database.in_memory() as db:
        for call in (db.run, db.query):
            with pytest.raises(DatabaseError) as caught:
                call("SELECT ?", value)
            assert caught.value.code == 0


@pytest.mark.parametrize("values", [(), (1, 2)])
def test_too_few_and_too_many_values_are_told(values: tuple[int, ...]) -> None:
    with Database.in_memory() as db, pytest.raises(DatabaseError):
        db.query("SELECT ?", *values)


@pytest.mark.parametrize("sql", ["", "  ", "-- nothing", ";"])
def test_no_statement_is_an_error_but_an_empty_script_is_not(sql: str) -> None:
    with Database.in_memory() as db:
        db.execute(sql)
        with pytest.raises(DatabaseError, match="holds no statement"):
            db.run(sql)


def test_a_second_statement_is_refused_before_the_first_is_run() -> None:
    with Database.in_memory() as db:
        with pytest.raises(DatabaseError, match="several statements"):
            db.run("CREATE TABLE t (a); CREATE TABLE u (a)")
        assert not db.table_exists("t")
        db.run("CREATE TABLE t (a); -- and no more")


def test_run_many_runs_each_row_and_keeps_those_before_a_bad_one() -> None:
    with Database.in_memory() as db:
        db.execute("CREATE TABLE t (a UNIQUE)")
        with pytest.raises(DatabaseError, match="UNIQUE"):
            db.run_many("INSERT INTO t VALUES (?)", [(1,), (2,), (1,), (3,)])
        assert db.query("SELECT a FROM t ORDER BY a") == [(1,), (2,)]


def test_threads_take_turns(tmp_path: Path) -> None:
    failures: list[BaseException] = []
    with Database(tmp_path / "a.db") as db:
        db.execute("CREATE TABLE t (thread, n)")

        def write(name: int) -> None:
            try:
                for n in range(200):
                    db.run("INSERT INTO t VALUES (?, ?)", name, n)
                    db.query("SELECT count(*) FROM t")
            except BaseException as error:  # told to the test
                failures.append(error)

        threads = [threading.Thread(target=write, args=(name,)) for name in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert not failures
        assert db.query("SELECT thread, count(*) FROM t GROUP BY 1") == [(n, 200) for n in range(4)]


def test_programs_that_open_a_new_file_at_once_all_can(tmp_path: Path) -> None:
    failures: list[BaseException] = []
    for round_ in range(150):
        ready = threading.Barrier(4)

        def open_it(path: Path = tmp_path / f"{round_}.db", ready: Any = ready) -> None:
            ready.wait(30)
            try:
                Database(path).close()
            except DatabaseError as error:
                failures.append(error)

        threads = [threading.Thread(target=open_it) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
    assert failures == []


def test_after_close_every_call_is_an_error_and_close_is_not(tmp_path: Path) -> None:
    db = Database(tmp_path / "a.db")
    db.close()
    db.close()
    for call in (
        lambda: db.execute("SELECT 1"),
        lambda: db.run("SELECT 1"),
        lambda: db.query("SELECT 1"),
        lambda: db.prepare("SELECT 1"),
        lambda: db.in_transaction,
        lambda: db.changes,
        lambda: db.last_insert_rowid,
        lambda: db.table_exists("t"),
        lambda: db.migrate([]) or db.user_version,
    ):
        with pytest.raises(DatabaseError):
            call()


def test_what_was_not_committed_is_not_there_after_kill_9(tmp_path: Path) -> None:
    script = (
        "import os, sys; from actors.store import Database; db = Database(sys.argv[1]);"
        "db.execute('CREATE TABLE t (a); INSERT INTO t VALUES (1)');"
        "db.transaction('immediate').__enter__(); db.run('INSERT INTO t VALUES (2)');"
        "os.kill(os.getpid(), 9)"
    )
    path = tmp_path / "a.db"
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], cwd=ROOT, timeout=30, check=False
    )
    assert done.returncode == -9
    with Database(path) as db:
        assert db.query("SELECT a FROM t") == [(1,)]
        assert db.query("PRAGMA integrity_check") == [("ok",)]


def test_the_library_has_what_is_needed() -> None:
    assert has_fts5()
    assert tuple(map(int, sqlite_version().split("."))) >= (3, 40)
    with Database.in_memory() as db:
        assert db.query("SELECT 'a' LIKE 'A', x'61' LIKE 'a'") == [(1, 0)]
        db.execute("CREATE VIRTUAL TABLE f USING fts5(body); INSERT INTO f VALUES ('the stage')")
        assert db.query("SELECT body FROM f WHERE f MATCH 'stage'") == [("the stage",)]
