"""`Connection`: one connection to SQLite, its errors as ours; what databases, statements and transactions share.

Single calls may come from any thread: each waits for the one before it. A transaction belongs to the
connection, so what another thread does meanwhile is part of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from threading import RLock
from typing import Any, Final
from weakref import WeakSet

import apsw
import apsw.ext

from actors.errors import DatabaseError
from actors.store.database_options import DatabaseOptions
from actors.store.opening import open_connection
from actors.store.sqlite_errors import SQLITE_RAISES, database_error

Row = tuple[Any, ...]
"""A row: None, int, float, str or bytes for each column."""

_KNOWN_LIMIT: Final = 1_000
_BACKUP_PAGES: Final = 10_000


class Connection:
    """See the module. Raises as `open_connection`; every method raises DatabaseError, once it is closed too."""

    def __init__(self, path: str, options: DatabaseOptions) -> None:
        self.path = path
        self.lock = RLock()
        self.users: WeakSet[Any] = WeakSet()
        """The prepared statements that have not been closed."""
        self.savepoints = count(1)
        self.transactions: list[object] = []
        """Those that are open, the innermost last."""
        self.commits_refused = False
        """Whether a COMMIT fails, and undoes its transaction; see `Transaction`."""
        self._known: set[str] = set()
        self._raw = open_connection(path, options)
        self._raw.set_commit_hook(lambda: self.commits_refused)
        self._closed = False

    # -- statements -------------------------------------------------------------------------------

    def script(self, sql: str) -> None:
        """Run all statements of `sql`; rows are dropped."""
        with self.lock, self.mapped("cannot execute", sql):
            for _ in self._raw.execute(sql):
                pass

    # The two that are called most map errors by hand: `mapped` takes longer than many a statement.

    def run(self, sql: str, values: Sequence[Any]) -> None:
        """Run one statement; rows are dropped."""
        with self.lock:
            try:
                if sql not in self._known:
                    self._check_is_one(sql)
                for _ in self._raw.execute(sql, values):
                    pass
            except SQLITE_RAISES as error:
                raise database_error("cannot run the statement", error, self.path, sql) from error

    def run_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement with each of `rows`; rows it gives are dropped."""
        with self.lock, self.mapped("cannot run the statement", sql):
            self._check_is_one(sql)
            for _ in self._raw.executemany(sql, rows):
                pass

    def query(self, sql: str, values: Sequence[Any]) -> list[Row]:
        """All rows of one statement."""
        with self.lock:
            try:
                if sql not in self._known:
                    self._check_is_one(sql)
                return self._raw.execute(sql, values).fetchall()
            except SQLITE_RAISES as error:
                raise database_error("cannot run the statement", error, self.path, sql) from error

    def begin(self, sql: str, values: Sequence[Any]) -> apsw.Cursor:
        """The rows of one statement, to be taken one by one; with the lock held, and mapped, by the caller."""
        return self._raw.cursor().execute(sql, values)

    def details(self, sql: str) -> apsw.ext.QueryDetails:
        """What one statement is like, which is not run.

        Raises DatabaseError: it has an error, there is none, or there are several.
        """
        with self.lock, self.mapped("cannot prepare the statement", sql):
            return self._check_is_one(sql)

    def _check_is_one(self, sql: str) -> apsw.ext.QueryDetails:
        details = apsw.ext.query_info(self._raw, sql)
        if not details.has_vdbe:
            raise DatabaseError("this holds no statement", db_path=self.path, sql=sql)
        if self._more(details.query_remaining):
            raise DatabaseError(
                "this holds several statements, expected one; `execute` runs a script",
                db_path=self.path,
                sql=sql,
            )
        if len(self._known) >= _KNOWN_LIMIT:
            self._known.clear()
        self._known.add(sql)
        return details

    def _more(self, rest: str | None) -> bool:
        """Whether there is a statement, of blanks and comments there may be any."""
        while rest:
            try:
                details = apsw.ext.query_info(self._raw, rest)
            except apsw.Error:  # what cannot be read is more, too
                return True
            if details.has_vdbe:
                return True
            rest = details.query_remaining
        return False

    # -- state ------------------------------------------------------------------------------------

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        with self.lock, self.mapped("cannot look"):
            return self._raw.in_transaction

    @property
    def last_insert_rowid(self) -> int:
        """The rowid of the row inserted last; 0 before any."""
        with self.lock, self.mapped("cannot look"):
            return self._raw.last_insert_rowid()

    @property
    def changes(self) -> int:
        """How many rows the last INSERT, UPDATE or DELETE changed."""
        with self.lock, self.mapped("cannot look"):
            return self._raw.changes()

    def interrupt(self) -> None:
        """End the statement that runs, from another thread; it raises DatabaseError."""
        if not self._closed:
            self._raw.interrupt()

    def copy_to(self, path: str) -> None:
        """Copy everything, as it is now, to a new file."""
        with self.lock, self.mapped("cannot back up the database"):
            target = apsw.Connection(path)
            try:
                with target.backup("main", self._raw, "main") as backup:
                    while not backup.done:
                        backup.step(_BACKUP_PAGES)
            finally:
                target.close()

    @property
    def closed(self) -> bool:
        """Whether it is."""
        return self._closed

    def close(self) -> None:
        """Close it; a transaction that is open is rolled back. May be called again.

        Raises DatabaseError: statements that were prepared are not closed; nothing has changed then.
        """
        with self.lock:
            if self._closed:
                return
            if left := len(self.users):
                raise DatabaseError(
                    f"cannot close the database: prepared statements are open ({left}); close them first",
                    db_path=self.path,
                )
            with self.mapped("cannot close the database"):
                self._raw.close()
            self._closed = True

    @contextmanager
    def mapped(self, what: str, sql: str = "") -> Iterator[None]:
        """What SQLite raises within, as DatabaseError."""
        try:
            yield
        except SQLITE_RAISES as error:
            raise database_error(what, error, self.path, sql) from error
