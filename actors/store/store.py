"""`Store`: a database as actors: one writer, several readers, under a supervisor of their own.

    with ActorSystem() as system:
        store = open_store(system, "agent.db", migrations=[
            Migration.from_sql(1, "notes", "CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT)"),
        ])
        store.run("INSERT INTO notes (body) VALUES (?)", "hello")
        print(store.query("SELECT body FROM notes"))

Writes that wait at the same time share a transaction, and so a commit, but never an outcome. Plain methods
block and are for threads; their twins with an `a` are awaitable from any event loop. All raise what their
work raises, `ActorDeadError` once the store has ended, and `Timeout` after `timeout` seconds.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar, cast

from msgspec import Struct

from actors.errors import AgentError, InvalidArgument
from actors.store.connection import Row
from actors.store.database import Database, Migration
from actors.store.database_options import DatabaseOptions
from actors.store.opening import IN_MEMORY
from actors.store.readers import READS_AT_ONCE, Read, StoreReaders
from actors.store.writer import StoreWriter, Write
from runtime import (
    ActorDeadError,
    ActorRef,
    ActorSystem,
    Backoff,
    ChildSpec,
    ChildStartError,
    Supervisor,
    SupervisorRef,
    Timeout,
)

T = TypeVar("T")

MAX_RESTARTS = 5
"""Restarts of a store within `WINDOW_S` before it gives up and its supervisor decides."""

WINDOW_S = 60.0

BACKOFF = Backoff(initial=0.05, maximum=5.0)

_DEFAULT = DatabaseOptions()


class Changed(Struct, frozen=True):
    """What a statement did: how many rows it changed, and the rowid of the row inserted last."""

    rows: int
    last_insert_rowid: int


class Store:
    """See the module. Made by `open_store`; may be used from any thread, and shared."""

    def __init__(
        self, supervisor: SupervisorRef, writer: ActorRef[Any], readers: ActorRef[Any]
    ) -> None:
        self.supervisor = supervisor
        """Of both; stop it to close the store."""
        self._writer = writer
        self._readers = readers

    # -- writing ----------------------------------------------------------------------------------

    def write(self, work: Callable[[Database], T], *, timeout: float | None = None) -> T:
        """Do `work` with the writing connection, within a transaction; what it returns, once it is committed.

        It is undone if it raises. It runs on the writer's thread and may run twice, see `group_commit`: it
        must do nothing but use the database. Waits for room if too many writes wait.
        """
        return cast("T", self._writer.ask(Write(work), timeout=timeout))

    async def awrite(self, work: Callable[[Database], T]) -> T:
        """The awaitable twin of `write`. Cancelling takes back what has not begun."""
        return cast("T", await self._writer.aask_when_room(Write(work)))

    def run(self, sql: str, *values: Any) -> Changed:
        """`write` one statement with its values."""
        return self.write(partial(_run, sql, values))

    async def arun(self, sql: str, *values: Any) -> Changed:
        """The awaitable twin of `run`."""
        return await self.awrite(partial(_run, sql, values))

    # -- reading ----------------------------------------------------------------------------------

    def read(self, work: Callable[[Database], T], *, timeout: float | None = None) -> T:
        """Do `work` with a read-only connection; what it returns.

        It sees one state of the database, with every write that was answered before. It neither waits for
        writes nor holds them up. It is done again if the readers are restarted meanwhile, which a
        supervisor's limit bounds; so it must do nothing but read. After `timeout` seconds it is interrupted.
        """
        while True:
            reply = self._readers.ask(Read(work), block=False)
            try:
                return cast("T", reply.get(timeout=timeout))
            except Timeout:
                reply.cancel()
                raise
            except ActorDeadError:
                if not self._readers.is_alive():
                    raise

    async def aread(self, work: Callable[[Database], T]) -> T:
        """The awaitable twin of `read`. Cancelling it interrupts a statement that runs."""
        while True:
            try:
                return cast("T", await self._readers.aask(Read(work)))
            except ActorDeadError:
                if not self._readers.is_alive():
                    raise

    def query(self, sql: str, *values: Any) -> list[Row]:
        """`read` all rows of one statement with its values."""
        return self.read(partial(_query, sql, values))

    async def aquery(self, sql: str, *values: Any) -> list[Row]:
        """The awaitable twin of `query`."""
        return await self.aread(partial(_query, sql, values))

    # -- care -------------------------------------------------------------------------------------

    def backup(self, path: str | os.PathLike[str]) -> None:
        """`Database.backup`, while others go on to write."""
        self.read(lambda database: database.backup(path))

    async def abackup(self, path: str | os.PathLike[str]) -> None:
        """The awaitable twin of `backup`."""
        await self.aread(lambda database: database.backup(path))

    def check_integrity(self) -> list[str]:
        """`Database.check_integrity`, while others go on to write."""
        return self.read(lambda database: database.check_integrity())

    async def acheck_integrity(self) -> list[str]:
        """The awaitable twin of `check_integrity`."""
        return await self.aread(lambda database: database.check_integrity())


def open_store(
    system: ActorSystem,
    path: str | os.PathLike[str],
    *,
    options: DatabaseOptions = _DEFAULT,
    migrations: Sequence[Migration] = (),
    name: str = "store",
    reads_at_once: int = READS_AT_ONCE,
) -> Store:
    """Start a store in a system, for one file; from a thread. It ends with the system.

    Raises:
        StoreInUse: another process, or another store, owns the file.
        DatabaseError: it cannot be opened, or a migration fails.
        InvalidArgument: it cannot be kept in memory, nor be read-only.
        NameTaken: the system has a store of that name.
    """
    where = os.fspath(path)
    if where == IN_MEMORY or options.read_only:
        raise InvalidArgument("a store needs a file that it may write; use `Database` for others")
    if reads_at_once < 1:
        raise InvalidArgument(f"reads_at_once is {reads_at_once}, expected 1 or more")
    children = [
        ChildSpec(StoreWriter, (where, options, tuple(migrations)), name=f"{name}-writer"),
        ChildSpec(StoreReaders, (where, options, reads_at_once), name=f"{name}-readers"),
    ]
    limits = {"max_restarts": MAX_RESTARTS, "window": WINDOW_S, "backoff": BACKOFF}
    spec = ChildSpec(Supervisor, (children,), {"strategy": "rest_for_one", **limits}, name)
    try:
        supervisor = cast("SupervisorRef", system.user.start_child(spec))
    except ChildStartError as error:
        raise _cause_of(error) from error
    writer, readers = (child.ref for child in supervisor.which_children())
    return Store(supervisor, writer, readers)


def _cause_of(error: BaseException) -> BaseException:
    """What a person can act on: the error of ours that the start failed with."""
    found: BaseException | None = error
    while found is not None and not isinstance(found, AgentError):
        found = found.__cause__
    return found or error


def _run(sql: str, values: Sequence[Any], database: Database) -> Changed:
    database.run(sql, *values)
    return Changed(database.changes, database.last_insert_rowid)


def _query(sql: str, values: Sequence[Any], database: Database) -> list[Row]:
    return database.query(sql, *values)
