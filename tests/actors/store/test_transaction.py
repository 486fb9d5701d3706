"""Transactions beside the cases: what stays after an error, at each depth, and who may end what."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.errors import DatabaseError
from actors.store import Database, DatabaseOptions


def values(db: Database) -> list[object]:
    """What stayed."""
    return [value for (value,) in db.query("SELECT a FROM t ORDER BY a")]


@pytest.fixture
def db(tmp_path: Path) -> object:
    """With a table."""
    with Database(tmp_path / "a.db") as database:
        database.execute("CREATE TABLE t (a UNIQUE)")
        yield database


def test_what_is_committed_stays_and_what_is_not_does_not(db: Database) -> None:
    with db.transaction() as transaction:
        db.run("INSERT INTO t VALUES (1)")
        transaction.commit()
        transaction.commit()
        assert not transaction.active
    with db.transaction():
        db.run("INSERT INTO t VALUES (2)")
    assert values(db) == [1]


def test_an_error_within_rolls_back_and_is_raised(db: Database) -> None:
    with pytest.raises(ZeroDivisionError), db.transaction() as transaction:
        db.run("INSERT INTO t VALUES (1)")
        transaction.rollback()
        transaction.rollback()
        _ = 1 / 0
    assert values(db) == []
    assert not db.in_transaction


def test_an_inner_one_is_a_savepoint_of_its_own(db: Database) -> None:
    with db.transaction() as outer:
        db.run("INSERT INTO t VALUES (1)")
        with db.transaction():
            db.run("INSERT INTO t VALUES (2)")
            with db.transaction() as innermost:
                db.run("INSERT INTO t VALUES (3)")
                innermost.commit()
        with db.transaction() as inner:
            db.run("INSERT INTO t VALUES (4)")
            inner.commit()
        outer.commit()
    assert values(db) == [1, 4]


def test_the_outer_one_cannot_end_before_the_inner(db: Database) -> None:
    with db.transaction() as outer, db.transaction() as inner:
        for end in (outer.commit, outer.rollback):
            with pytest.raises(DatabaseError, match="inside it is open"):
                end()
        inner.commit()
        outer.commit()


def test_a_transaction_cannot_begin_twice(db: Database) -> None:
    with db.transaction() as transaction, pytest.raises(DatabaseError, match="begun already"):
        transaction.__enter__()


def test_an_unknown_mode_is_told(db: Database) -> None:
    with pytest.raises(DatabaseError, match="'later', expected one of deferred"):
        db.transaction("later")  # type: ignore[arg-type]


def test_a_commit_that_fails_leaves_it_open(db: Database) -> None:
    db.execute("CREATE TABLE u (b REFERENCES t (a) DEFERRABLE INITIALLY DEFERRED)")
    with db.transaction() as transaction:
        db.run("INSERT INTO u VALUES (7)")
        with pytest.raises(DatabaseError, match="FOREIGN KEY"):
            transaction.commit()
        assert transaction.active
        db.run("INSERT INTO t VALUES (7)")
        transaction.commit()
    assert values(db) == [7]


def test_what_sqlite_rolled_back_by_itself_is_over(db: Database) -> None:
    db.run("INSERT INTO t VALUES (1)")
    with pytest.raises(DatabaseError, match="UNIQUE"), db.transaction():
        db.run("INSERT INTO t VALUES (2)")
        db.run("INSERT OR ROLLBACK INTO t VALUES (1)")
    assert values(db) == [1]
    with db.transaction() as transaction:
        db.run("INSERT INTO t VALUES (3)")
        transaction.commit()
    assert values(db) == [1, 3]


def test_closing_the_database_rolls_back(tmp_path: Path) -> None:
    db = Database(tmp_path / "a.db")
    db.execute("CREATE TABLE t (a)")
    with db.transaction() as transaction:
        db.run("INSERT INTO t VALUES (1)")
        db.close()
    assert not transaction.active
    with Database(tmp_path / "a.db") as again:
        assert values(again) == []


def test_immediate_takes_the_lock_at_once(tmp_path: Path) -> None:
    impatient = DatabaseOptions(busy_timeout_ms=0)
    with Database(tmp_path / "a.db") as one, Database(tmp_path / "a.db", impatient) as two:
        with one.transaction("deferred"), two.transaction("immediate"):
            pass
        with (
            one.transaction("immediate"),
            pytest.raises(DatabaseError, match="locked"),
            two.transaction("immediate"),
        ):
            pass
