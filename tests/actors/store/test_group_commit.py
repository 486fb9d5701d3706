"""Group commit: each piece of work keeps its own outcome, whatever happens to the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from actors.errors import DatabaseError
from actors.store import Database, DatabaseOptions
from actors.store.group_commit import Failed, Work, commit_group


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    """With a table."""
    with Database(tmp_path / "a.db") as database:
        database.execute("CREATE TABLE t (a UNIQUE)")
        yield database


def insert(*values: Any) -> Work:
    """Work that inserts one after the other, and returns the first."""

    def work(db: Database) -> Any:
        for value in values:
            db.run("INSERT INTO t VALUES (?)", value)
        return values[0]

    return work


def run(sql: str) -> Work:
    """Work that runs a statement."""
    return lambda db: db.run(sql)


def values(db: Database) -> list[Any]:
    """What stayed."""
    return [value for (value,) in db.query("SELECT a FROM t ORDER BY a")]


def shown(outcomes: list[Any]) -> list[Any]:
    """Errors as their classes."""
    return [type(each.error) if isinstance(each, Failed) else each for each in outcomes]


def test_all_are_committed_at_once(db: Database, tmp_path: Path) -> None:
    with Database(tmp_path / "a.db", DatabaseOptions(read_only=True)) as other:
        seen = lambda _: values(other)  # noqa: E731 - one of the works
        assert commit_group(db, [insert(1), seen, insert(2)]) == [1, [], 2]
        assert values(other) == [1, 2]
    assert commit_group(db, []) == []


def test_an_error_undoes_its_own_work_and_no_other(db: Database) -> None:
    def half_done(db: Database) -> None:
        db.run("INSERT INTO t VALUES (7)")
        raise LookupError

    outcomes = commit_group(db, [insert(1), half_done, insert(2, 1), insert(3)])
    assert shown(outcomes) == [1, LookupError, DatabaseError, 3]
    assert values(db) == [1, 3]


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize(
    "sql",
    [
        "COMMIT",
        "END",
        "ROLLBACK",
        "BEGIN",
        "VACUUM",
        "RELEASE greenroom_work",
        "INSERT OR ROLLBACK INTO t VALUES (0)",
    ],
)
def test_work_that_would_end_the_transaction_ends_nothing(
    db: Database, sql: str, *, alone: bool
) -> None:
    db.run("INSERT INTO t VALUES (0)")
    if alone:
        outcomes = commit_group(db, [run(sql)])
        assert shown(outcomes) == [DatabaseError]
    else:
        outcomes = commit_group(db, [insert(1), run(sql), insert(2), insert(2)])
        assert shown(outcomes) == [1, DatabaseError, 2, DatabaseError]
    assert values(db) == ([0] if alone else [0, 1, 2])
    assert not db.in_transaction
    db.run("INSERT INTO t VALUES (9)")
    assert values(db)[-1] == 9


def test_a_constraint_that_is_broken_at_the_commit_is_its_own_works_fault(db: Database) -> None:
    db.execute("CREATE TABLE u (b REFERENCES t (a) DEFERRABLE INITIALLY DEFERRED)")
    outcomes = commit_group(db, [insert(1), run("INSERT INTO u VALUES (5)"), insert(2)])
    assert shown(outcomes) == [1, DatabaseError, 2]
    assert values(db) == [1, 2]


def test_a_full_disk_fails_what_does_not_fit(db: Database) -> None:
    (pages,) = db.query("PRAGMA page_count")[0]
    db.query(f"PRAGMA max_page_count = {pages + 1}")
    outcomes = commit_group(db, [insert("a"), insert("b" * 100_000), insert("c")])
    assert shown(outcomes) == ["a", DatabaseError, "c"]
    assert outcomes[1].error.code == 13
    assert values(db) == ["a", "c"]


def test_a_database_that_is_locked_fails_the_group_after_one_wait(tmp_path: Path) -> None:
    with (
        Database(tmp_path / "a.db") as other,
        Database(tmp_path / "a.db", DatabaseOptions(busy_timeout_ms=1)) as db,
    ):
        db.execute("CREATE TABLE t (a UNIQUE)")
        with other.transaction("immediate"):
            outcomes = commit_group(db, [insert(1), insert(2)])
        assert [each.error.code for each in outcomes] == [5, 5]
        assert outcomes[0].error is outcomes[1].error
        assert commit_group(db, [insert(1), insert(2)]) == [1, 2]


def test_a_transaction_within_work_is_a_savepoint(db: Database) -> None:
    def nested(db: Database) -> list[Any]:
        with db.transaction() as kept:
            db.run("INSERT INTO t VALUES (1)")
            kept.commit()
        with db.transaction():
            db.run("INSERT INTO t VALUES (2)")
        return values(db)

    assert commit_group(db, [nested, insert(3)]) == [[1], 3]
    assert commit_group(db, [insert(4)]) == [4]
    assert values(db) == [1, 3, 4]


class InterruptedWork(BaseException):
    """As KeyboardInterrupt would be."""


def test_an_interrupt_commits_nothing_and_is_raised(db: Database) -> None:
    def interrupted(_: Database) -> None:
        raise InterruptedWork

    with pytest.raises(InterruptedWork):
        commit_group(db, [insert(1), interrupted])
    assert values(db) == []
    works: list[Callable[[Database], Any]] = [insert(1), insert(2)]
    assert commit_group(db, works) == [1, 2]
