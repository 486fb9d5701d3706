"""`StoreWriter`: the actor that owns a store's writing connection.

What waits in its mailbox is committed as a group (see `group_commit`); the mailbox is bounded, and senders
wait for room. If the file is damaged or goes away, the actor fails and its supervisor starts it again, which
sets the damaged file aside and begins with an empty one: `StoreFileReplaced` tells of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

from msgspec import Struct

from actors.errors import DatabaseError
from actors.store.damage import (
    FileId,
    StoreFileReplaced,
    damage_in,
    file_id,
    is_suspect,
    set_aside,
)
from actors.store.database import Database, Migration
from actors.store.database_options import DatabaseOptions
from actors.store.group_commit import Failed, Work, commit_group
from actors.store.opening import make_directory
from actors.store.owner_lock import OwnerLock
from runtime import BlockingActor
from runtime.mailbox import Overflow

WAITING_WRITES = 10_000
"""Most messages that wait for a writer; senders of more wait for room."""

GROUP = 1_000
"""Most messages in one transaction."""


class Write(Struct, frozen=True):
    """Do this within a transaction; the answer is what it returns."""

    work: Work


class StoreWriter(BlockingActor):
    """See the module."""

    capacity: ClassVar[int | None] = WAITING_WRITES
    overflow: ClassVar[Overflow] = "block"
    batch_limit: ClassVar[int] = GROUP

    def __init__(
        self, path: str, options: DatabaseOptions, migrations: tuple[Migration, ...]
    ) -> None:
        super().__init__()
        self._path = path
        self._options = options
        self._migrations = migrations
        self._lock: OwnerLock | None = None
        self._database: Database | None = None
        self._file: FileId | None = None
        self._suspicion: Exception | None = None

    # -- life -------------------------------------------------------------------------------------

    def on_restart(self, reason: Any) -> None:
        """Remember that the file is to be looked at."""
        self._suspicion = reason if isinstance(reason, DatabaseError) else None

    def on_start(self) -> None:
        """Become the owner, open the file, bring its schema up to date.

        Raises DatabaseError: it cannot be opened, or a migration fails; StoreInUse: it has an owner.
        """
        if self._options.create_if_missing:
            make_directory(self._path)
        self._lock = OwnerLock(self._path)
        try:
            if self._suspicion is not None:
                self._examine(self._suspicion)
            self._database = Database(self._path, self._options)
            self._file = file_id(self._path)
            self._database.migrate(self._migrations)
        except BaseException:
            self.on_stop()
            raise

    def on_stop(self) -> None:
        """Close the file and let others be its owner."""
        database, self._database = self._database, None
        lock, self._lock = self._lock, None
        try:
            if database is not None:
                database.close()
        finally:
            if lock is not None:
                lock.release()

    def on_failure(self, *_: object) -> None:
        """The same."""
        self.on_stop()

    # -- work -------------------------------------------------------------------------------------

    def on_batch(self, messages: Sequence[Any]) -> Sequence[Any]:
        """Commit a group; each message's own outcome."""
        database = self._database
        assert database is not None
        if file_id(self._path) != self._file:
            gone = DatabaseError("the store's file has gone while it was open", db_path=self._path)
            self.fail(gone)
            return [gone] * len(messages)
        outcomes = commit_group(database, [_work_of(message) for message in messages])
        return [self._checked(outcome) for outcome in outcomes]

    def _checked(self, outcome: Any) -> Any:
        if not isinstance(outcome, Failed):
            return outcome
        if is_suspect(outcome.error):
            self.fail(outcome.error)
        return outcome.error

    # -- a file that is damaged or has gone -------------------------------------------------------

    def _examine(self, why: Exception) -> None:
        """Set the file aside if it is damaged indeed. Raises DatabaseError: that cannot be known."""
        if file_id(self._path) is None:
            self._tell(StoreFileReplaced(self._path, str(why), None))
        elif found := damage_in(self._path, self._options):
            self._tell(StoreFileReplaced(self._path, found, set_aside(self._path)))

    def _tell(self, event: StoreFileReplaced) -> None:
        self.log.error(
            "store_file_replaced", path=event.path, why=event.why, moved_to=event.moved_to
        )
        self.system.loop_thread.post(self.system.events.publish, event)


def _work_of(message: Any) -> Work:
    if isinstance(message, Write):
        return message.work
    return partial(_refuse, type(message).__name__)


def _refuse(kind: str, _: Database) -> None:
    raise TypeError(f"a store's writer takes Write, got {kind}")
