"""`open_connection`: a connection to SQLite with everything set that gaia section 12 asks for.

Each practice is a function. What SQLite must be built with is checked where it matters: LIKE that does not
match blobs and FTS5 are in apsw's wheels.
"""

from __future__ import annotations

import time
from pathlib import Path

import apsw

from actors.errors import DatabaseError
from actors.store.database_options import DatabaseOptions
from actors.store.sqlite_errors import SQLITE_RAISES, database_error

IN_MEMORY = ":memory:"

_RETRY_S = 0.002


def open_connection(path: str, options: DatabaseOptions) -> apsw.Connection:
    """Open it; the caller closes it.

    Raises DatabaseError: the path is empty, there is no such file and none may be made, it is no database, or
    the write-ahead log cannot be had.
    """
    if not path:
        raise DatabaseError("cannot open a database: its path is empty", db_path=path)
    if not _is_fixed(path, options) and options.create_if_missing:
        make_directory(path)
    try:
        connection = apsw.Connection(path, flags=_flags(options))
    except SQLITE_RAISES as error:
        raise database_error("cannot open the database", error, path) from error
    try:
        _configure(connection, path, options)
    except SQLITE_RAISES as error:
        connection.close()
        raise database_error("cannot open the database", error, path) from error
    except DatabaseError:
        connection.close()
        raise
    return connection


def make_directory(path: str) -> None:
    """Of a file that is to be made. Raises DatabaseError."""
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise database_error("cannot open the database", error, path) from error


def _is_fixed(path: str, options: DatabaseOptions) -> bool:
    """Whether no file is made, nor the way it keeps its log changed."""
    return path == IN_MEMORY or options.read_only


def _flags(options: DatabaseOptions) -> int:
    if options.read_only:
        return apsw.SQLITE_OPEN_READONLY
    create = apsw.SQLITE_OPEN_CREATE if options.create_if_missing else 0
    return apsw.SQLITE_OPEN_READWRITE | create


def _configure(connection: apsw.Connection, path: str, options: DatabaseOptions) -> None:
    connection.set_busy_timeout(options.busy_timeout_ms)
    _refuse_quoted_literals(connection)
    _distrust_the_file(connection)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_FKEY, int(options.foreign_keys))
    _read_its_head(connection)
    if options.wal_mode and not _is_fixed(path, options):
        _use_write_ahead_log(connection, path, options)


def _refuse_quoted_literals(connection: apsw.Connection) -> None:
    """A misspelt column in double quotes is an error, and not a string."""
    connection.config(apsw.SQLITE_DBCONFIG_DQS_DML, 0)
    connection.config(apsw.SQLITE_DBCONFIG_DQS_DDL, 0)


def _distrust_the_file(connection: apsw.Connection) -> None:
    """SQL cannot damage the file on purpose, and what a file's schema calls has no side effects.

    Loading extensions is off unless it is switched on.
    """
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)


def _read_its_head(connection: apsw.Connection) -> None:
    """SQLite reads a file with the first statement; that it is no database is to be told now."""
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()


def _use_write_ahead_log(connection: apsw.Connection, path: str, options: DatabaseOptions) -> None:
    mode = _patiently_switched(connection, options.busy_timeout_ms / 1_000)
    if mode != "wal":
        raise DatabaseError(
            f"cannot open the database: it keeps journal mode {mode!r} instead of 'wal'; is it on a file "
            "system that cannot share memory? Open it with wal_mode=False there",
            db_path=path,
        )
    level = "FULL" if options.durability == "machine" else "NORMAL"
    connection.execute(f"PRAGMA synchronous = {level}")


def _patiently_switched(connection: apsw.Connection, patience_s: float) -> str:
    """The mode it keeps. SQLite itself does not wait here for another one that opens the new file as well.

    1. both read the head of the empty file, which takes the lock for reading
    2. one asks for the lock that excludes all, to write that there is a log
    3. the other does, too; each would wait for the other to stop reading, so SQLite tells one "busy" at once
    """
    end = time.monotonic() + patience_s
    while True:
        try:
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchall()[0]
        except apsw.BusyError:
            if time.monotonic() >= end:
                raise
            time.sleep(_RETRY_S)
        else:
            return str(mode)
