"""`Transaction`: a block whose changes are kept only if it commits.

    with db.transaction() as transaction:
        db.run("INSERT INTO notes (body) VALUES (?)", "a")
        db.run("INSERT INTO notes (body) VALUES (?)", "b")
        transaction.commit()             # without it, or with an error before it, neither stays

Inside another one it is a savepoint: rolled back, it takes nothing of the outer one's with it.
"""

from __future__ import annotations

from typing import Literal

import structlog

from actors.errors import DatabaseError
from actors.store.connection import Connection

TransactionMode = Literal["deferred", "immediate", "exclusive"]

_BEGINS: dict[str, str] = {
    "deferred": "BEGIN DEFERRED",
    "immediate": "BEGIN IMMEDIATE",
    "exclusive": "BEGIN EXCLUSIVE",
}

_log = structlog.get_logger(__name__)


class Transaction:
    """See the module. Made by `Database.transaction`; begins where its block does.

    A failed commit leaves it open. What SQLite has rolled back by itself (a full disk, say) is over. Where
    it is `owned`, nobody else can commit it: SQL that says COMMIT fails, and undoes it.
    """

    def __init__(
        self, connection: Connection, mode: TransactionMode, *, owned: bool = False
    ) -> None:
        if mode not in _BEGINS:
            raise DatabaseError(
                f"transaction mode is {mode!r}, expected one of {', '.join(_BEGINS)}",
                db_path=connection.path,
            )
        self._connection = connection
        self._mode = mode
        self._owned = owned
        self._savepoint = ""
        self._active = False

    @property
    def active(self) -> bool:
        """Whether it has begun and not ended."""
        return self._active

    def __enter__(self) -> Transaction:
        if self._active:
            raise self._error("it has begun already")
        if self._connection.in_transaction:
            self._savepoint = f"greenroom_{next(self._connection.savepoints)}"
            self._connection.script(f"SAVEPOINT {self._savepoint}")
        else:
            self._connection.script(_BEGINS[self._mode])
        self._active = True
        self._connection.transactions.append(self)
        self._connection.commits_refused |= self._owned
        return self

    def commit(self) -> None:
        """Keep the changes. Nothing happens if it is over.

        Raises DatabaseError: SQLite cannot, or a transaction inside it is open; it stays open then.
        """
        if not self._active:
            return
        self._check_innermost()
        if self._savepoint:
            self._connection.script(f"RELEASE {self._savepoint}")
        else:
            self._commit_outermost()
        self._end()

    def _commit_outermost(self) -> None:
        self._connection.commits_refused = False
        try:
            self._connection.script("COMMIT")
        finally:
            self._connection.commits_refused = self._owned

    def rollback(self) -> None:
        """Undo the changes. Nothing happens if it is over. Raises as `commit`."""
        if not self._active:
            return
        self._check_innermost()
        if self._connection.in_transaction:
            if self._savepoint:
                self._connection.script(f"ROLLBACK TO {self._savepoint}")
                self._connection.script(f"RELEASE {self._savepoint}")
            else:
                self._connection.script("ROLLBACK")
        self._end()

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if self._connection.closed:  # which rolled back
            self._end()
            return
        try:
            self.rollback()
        except DatabaseError as failure:
            self._end()
            if error is None:
                raise
            _log.error("a transaction was not rolled back", why=str(failure))

    def _end(self) -> None:
        if self._active:
            self._active = False
            self._connection.commits_refused &= not self._owned
            self._connection.transactions.remove(self)

    def _check_innermost(self) -> None:
        if self._connection.transactions[-1] is not self:
            raise self._error("a transaction inside it is open, which must end first")

    def _error(self, why: str) -> DatabaseError:
        return DatabaseError(
            f"cannot end or begin a transaction: {why}", db_path=self._connection.path
        )
