"""`StoreReaders`: the actor that reads a store, on read-only connections, several at once.

Reads neither wait for writes nor hold them up. Each sees one state of the database, that of its beginning.
A read that nobody waits for any more is interrupted.
"""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import msgspec
from msgspec import Struct

from actors.errors import DatabaseError
from actors.store.database import Database
from actors.store.database_options import DatabaseOptions
from actors.store.group_commit import Work
from runtime import Actor, Reply

READS_AT_ONCE = 4
"""Default for reads that run at one time, each on a thread and a connection; others wait in order."""


class Read(Struct, frozen=True):
    """Do this on a read-only connection; the answer is what it returns."""

    work: Work


class StoreReaders(Actor):
    """See the module."""

    def __init__(self, path: str, options: DatabaseOptions, at_once: int = READS_AT_ONCE) -> None:
        super().__init__()
        self._pool = _Pool(path, msgspec.structs.replace(options, read_only=True))
        self._at_once = at_once
        self._threads: Any = None
        self._readings: set[_Reading] = set()

    def on_start(self) -> None:
        """Prepare the threads; they and their connections are made when they are needed."""
        name = f"{self.system.name}-store-readers"
        self._threads = self.system.worker_threads(name, limit=self._at_once)

    def on_receive(self, message: Any) -> Any:
        """Read beside the other reads; the mailbox is free at once."""
        match message:
            case Read(work):
                return self.background(self._read(work), label="read")
        return super().on_receive(message)

    async def _read(self, work: Work) -> Any:
        reading = _Reading(self._pool, work)
        self._readings.add(reading)
        try:
            return await self._threads.run(reading.run)
        except asyncio.CancelledError:
            reading.interrupt()
            raise
        finally:
            self._readings.discard(reading)

    async def on_stop(self) -> None:
        """Interrupt what reads, and wait until all connections are closed.

        For the last connection to a file has its log written into it, which a read-only one cannot.
        """
        if self._threads is not None:
            self._threads.close()
        for reading in self._readings:
            reading.interrupt()
        await self._pool.close()

    async def on_failure(self, *_: object) -> None:
        """The same."""
        await self.on_stop()


class _Connection:
    """A connection, for one read at a time.

    SQLite forgets an interrupt when no statement runs, as between two statements of a read. So one runs all
    the time that a read does: `_pin`, which stands at the first of its rows.
    """

    def __init__(self, path: str, options: DatabaseOptions) -> None:
        self.database = Database(path, options)
        self._pin = self.database.prepare("VALUES (1), (2)")

    def read(self, work: Work) -> Any:
        with self.database.transaction("deferred"):  # one state for all its statements
            self._pin.step()
            try:
                return work(self.database)
            finally:
                self._pin.reset()

    def close(self) -> None:
        self._pin.close()
        self.database.close()


class _Pool:
    """Connections that are not in use; from any thread."""

    def __init__(self, path: str, options: DatabaseOptions) -> None:
        self._path = path
        self._options = options
        self._lock = threading.Lock()
        self._idle: list[_Connection] = []
        self._in_use = 0
        self._closed = False
        self._all_closed: Reply[None] = Reply()

    def take(self) -> _Connection:
        """To be given back. Raises DatabaseError: no connection can be had."""
        with self._lock:
            if self._closed:
                raise DatabaseError("the store's readers have ended", db_path=self._path)
            self._in_use += 1
            if self._idle:
                return self._idle.pop()
        try:
            return _Connection(self._path, self._options)
        except DatabaseError:
            with self._lock:
                self._in_use -= 1
                self._settle()
            raise

    def give_back(self, connection: _Connection) -> None:
        with self._lock:
            if self._closed:
                connection.close()
            else:
                self._idle.append(connection)
            self._in_use -= 1
            self._settle()

    def close(self) -> Reply[None]:
        """Close all; settles when those in use have been given back."""
        with self._lock:
            idle, self._idle, self._closed = self._idle, [], True
            for connection in idle:
                connection.close()
            self._settle()
        return self._all_closed

    def _settle(self) -> None:
        if self._closed and not self._in_use:
            self._all_closed.settle()


class _Reading:
    """One read, which may be interrupted from another thread."""

    def __init__(self, pool: _Pool, work: Work) -> None:
        self._pool = pool
        self._work = work
        self._lock = threading.Lock()
        self._running: Database | None = None
        self._interrupted = False

    def run(self) -> Any:
        """On a thread of its own."""
        connection = self._pool.take()
        try:
            return connection.read(self._begin)
        finally:
            self._pool.give_back(connection)

    def _begin(self, database: Database) -> Any:
        with self._lock:
            if self._interrupted:
                return None
            self._running = database
        try:
            return self._work(database)
        finally:
            with self._lock:
                self._running = None

    def interrupt(self) -> None:
        """End the statement that runs, and those to come. Nobody waits for what it gives."""
        with self._lock:
            self._interrupted = True
            if self._running is not None:
                self._running.interrupt()
