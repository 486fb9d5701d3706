"""`Database`: SQLite for what an agent remembers (gaia section 12); synchronous, and of use without actors.

    with Database("agent.db") as db:
        db.migrate([Migration.from_sql(1, "notes", "CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT)")])
        with db.transaction() as transaction:
            db.run("INSERT INTO notes (body) VALUES (?)", "hello")
            transaction.commit()
        for key, body in db.query("SELECT id, body FROM notes WHERE body LIKE ?", "he%"):
            print(key, body)

Every failure is a `DatabaseError` that names SQLite's text and code, the database and the statement. A string
in double quotes is an error. Calls may come from any thread, one waits for the other; a transaction belongs to
the connection, so give it a thread of its own (or an actor).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import apsw
from msgspec import Struct

from actors.errors import DatabaseError
from actors.store import schema
from actors.store.connection import Connection, Row
from actors.store.database_options import DatabaseOptions
from actors.store.migration_rules import check_steps
from actors.store.opening import IN_MEMORY
from actors.store.statement import Statement
from actors.store.transaction import Transaction, TransactionMode
from actors.store.whole_file import written_whole

_DEFAULT = DatabaseOptions()


class Migration(Struct, frozen=True):
    """A step from one version of a schema to the next.

    `apply` is given the database within the step's own transaction, and must not end it.
    """

    version: int
    description: str
    apply: Callable[[Database], None]

    @classmethod
    def from_sql(cls, version: int, description: str, script: str) -> Migration:
        """A step that runs a script."""
        return cls(version, description, lambda database: database.execute(script))


class Database:
    """See the module.

    Raises DatabaseError: the path is empty, there is no such file and none may be made, or it is no database.
    """

    def __init__(self, path: str | os.PathLike[str], options: DatabaseOptions = _DEFAULT) -> None:
        self._options = options
        self._connection = Connection(os.fspath(path), options)

    @classmethod
    def in_memory(cls, options: DatabaseOptions = _DEFAULT) -> Database:
        """One in memory that nobody else sees."""
        return cls(IN_MEMORY, options)

    @property
    def path(self) -> str:
        """As it was given."""
        return self._connection.path

    @property
    def options(self) -> DatabaseOptions:
        """As they were given."""
        return self._options

    def close(self) -> None:
        """Close it; a transaction that is open is rolled back. May be called again.

        Raises DatabaseError: prepared statements are open; the database is, still, then.
        """
        self._connection.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- statements -------------------------------------------------------------------------------

    def execute(self, script: str) -> None:
        """Run any number of statements without values; rows are dropped.

        Those before one that fails have been run, unless a transaction is around it.
        """
        self._connection.script(script)

    def run(self, sql: str, *values: Any) -> None:
        """Run one statement with its values (None, bool, int, float, str, bytes-like); rows are dropped."""
        self._connection.run(sql, values)

    def run_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement with each row of values. Those before one that fails stay, as with `execute`."""
        self._connection.run_many(sql, rows)

    def query(self, sql: str, *values: Any) -> list[Row]:
        """All rows of one statement with its values."""
        return self._connection.query(sql, values)

    def prepare(self, sql: str) -> Statement:
        """One statement, for rows that are taken one by one."""
        return Statement(self._connection, sql)

    @property
    def last_insert_rowid(self) -> int:
        """The rowid of the row inserted last; 0 before any."""
        return self._connection.last_insert_rowid

    @property
    def changes(self) -> int:
        """How many rows the last INSERT, UPDATE or DELETE changed."""
        return self._connection.changes

    # -- transactions -----------------------------------------------------------------------------

    def transaction(
        self, mode: TransactionMode = "deferred", *, owned: bool = False
    ) -> Transaction:
        """A block whose changes are kept only if it commits; a savepoint inside another one.

        `deferred` takes the lock for writing with the first write, `immediate` at once, `exclusive` that for
        reading as well. An `owned` one is committed by its `commit` alone: a statement that says COMMIT
        fails, and undoes it.
        """
        return Transaction(self._connection, mode, owned=owned)

    @property
    def in_transaction(self) -> bool:
        """Whether one is open."""
        return self._connection.in_transaction

    # -- care -------------------------------------------------------------------------------------

    def interrupt(self) -> None:
        """End the statement that another thread runs; there it raises DatabaseError (SQLITE_INTERRUPT)."""
        self._connection.interrupt()

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Write a copy of one state of the database; it takes the place of a file there once it is whole.

        Raises DatabaseError: it cannot be written; what was there is as it was, then.
        """
        try:
            with written_whole(Path(path)) as beside:
                self._connection.copy_to(str(beside))
        except OSError as error:
            raise DatabaseError(
                f"cannot back up the database to {os.fspath(path)!r}: {error.strerror}",
                db_path=self.path,
            ) from error

    def check_integrity(self) -> list[str]:
        """What SQLite finds wrong with the whole file, most of it first; empty if nothing. Takes its time.

        Raises DatabaseError: it is so damaged that it cannot be read.
        """
        found = [str(problem) for (problem,) in self.query("PRAGMA integrity_check")]
        return [] if found == ["ok"] else found

    # -- schema -----------------------------------------------------------------------------------

    @property
    def user_version(self) -> int:
        """The version of the schema (`PRAGMA user_version`); 0 in a new database."""
        return int(self._connection.query("PRAGMA user_version", ())[0][0])

    @user_version.setter
    def user_version(self, version: int) -> None:
        self._connection.script(f"PRAGMA user_version = {version:d}")

    def migrate(self, steps: Sequence[Migration]) -> list[int]:
        """Apply the steps that are newer than the database, each in a transaction; the versions applied.

        The version is written in the same transaction. Several programs may do it at once.

        Raises DatabaseError: the steps are out of order, the database is newer than the last of them (before
        anything is run), or a step failed: those before it stay, and it may be tried again.
        """
        versions = [(step.version, step.description) for step in steps]
        check_steps(versions, at=self.user_version, db_path=self.path)
        return [step.version for step in steps if self._applied(step)]

    def _applied(self, step: Migration) -> bool:
        try:
            with self.transaction("immediate") as transaction:
                if self.user_version >= step.version:  # perhaps by another program, meanwhile
                    return False
                step.apply(self)
                self.user_version = step.version
                transaction.commit()
        except Exception as error:  # whatever a step raises
            code = error.code if isinstance(error, DatabaseError) else 0
            raise DatabaseError(
                f"migration to version {step.version} ({step.description}) failed, the database stays as "
                f"it was before it: {str(error) or type(error).__name__}",
                code=code,
                db_path=self.path,
            ) from error
        return True

    def table_exists(self, table: str) -> bool:
        """Whether there is a table or view of exactly that name."""
        return schema.table_exists(self._connection, table)

    def column_exists(self, table: str, column: str) -> bool:
        """Whether a table or view has such a column; False if there is no such table."""
        return schema.column_exists(self._connection, table, column)

    def add_column_if_missing(self, table: str, definition: str) -> bool:
        """Add a column unless it is there; whether it was added.

        Raises DatabaseError: there is no such table, or the definition is empty or refused.
        """
        return schema.add_column_if_missing(self._connection, table, definition)


def has_fts5() -> bool:
    """Whether SQLite can search full texts."""
    return "ENABLE_FTS5" in apsw.compile_options


def sqlite_version() -> str:
    """Of the SQLite in use, such as "3.54.1"."""
    return apsw.sqlite_lib_version()
