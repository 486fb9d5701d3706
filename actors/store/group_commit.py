"""Group commit: several pieces of work in one transaction, where each keeps its own outcome.

A commit is what a small write costs most, so work that waits together is committed together. Each piece runs
within a savepoint: an error undoes it and nothing else. If SQLite gives the whole transaction up (the disk is
full, a constraint is found broken at the commit, work ended the transaction itself), each piece is run again
in a transaction of its own, so that only those fail that must.

So work may be run twice, the first time undone: it must do nothing but use the database it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from actors.errors import DatabaseError
from actors.store.database import Database

Work = Callable[[Database], Any]
"""Uses a database within a transaction, which it neither commits nor rolls back."""


class Failed:
    """The outcome of work that raised."""

    __slots__ = ("error",)

    def __init__(self, error: Exception) -> None:
        self.error = error


Outcome = Any
"""What work returned, or `Failed`."""


class _GroupLostError(Exception):
    """SQLite has given the transaction up; nothing of the group stays."""


def commit_group(database: Database, group: Sequence[Work]) -> list[Outcome]:
    """Run all, commit, and give each outcome in order. Nothing is committed but what has an outcome here."""
    if len(group) > 1:
        try:
            return _together(database, group)
        except _GroupLostError:
            pass  # to be done one by one
        except DatabaseError as error:  # no transaction can be begun
            return [Failed(error)] * len(group)
    return [_outcome(_alone, database, work) for work in group]


def _together(database: Database, group: Sequence[Work]) -> list[Outcome]:
    with database.transaction("immediate", owned=True) as transaction:
        try:
            outcomes = [_within_savepoint(database, work) for work in group]
            transaction.commit()
        except DatabaseError as error:
            raise _GroupLostError from error
    return outcomes


def _within_savepoint(database: Database, work: Work) -> Outcome:
    """Raises _GroupLostError: the transaction ended meanwhile."""
    database.run("SAVEPOINT greenroom_work")
    outcome = _outcome(work, database)
    if not database.in_transaction:
        raise _GroupLostError
    if isinstance(outcome, Failed):
        database.run("ROLLBACK TO greenroom_work")
    database.run("RELEASE greenroom_work")
    return outcome


def _alone(database: Database, work: Work) -> Any:
    with database.transaction("immediate", owned=True) as transaction:
        result = work(database)
        if not database.in_transaction:
            raise DatabaseError(
                "work given to a store ended its transaction, which is the store's to end",
                db_path=database.path,
            )
        transaction.commit()
    return result


def _outcome(work: Callable[..., Any], *args: Any) -> Outcome:
    try:
        return work(*args)
    except Exception as error:  # noqa: BLE001 - told to whoever gave the work
        return Failed(error)
