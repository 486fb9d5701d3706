"""`RowStore`: the little of a `Store` that runs and sessions need.

An agent may be given a store, and most are not: naming it by its shape keeps SQLite out of the programs that
have none. `actors.store.Store` has this shape.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Rows(Protocol):
    """A database, within a transaction or a read; see `actors.store.Database`."""

    def run(self, sql: str, /, *values: Any) -> None:
        """Run one statement with its values."""

    def query(self, sql: str, /, *values: Any) -> list[Any]:
        """All rows of one statement with its values."""

    @property
    def changes(self) -> int:
        """How many rows the last statement changed."""

    @property
    def last_insert_rowid(self) -> int:
        """The rowid of the row inserted last."""


def time_of(seconds: float) -> datetime:
    """The time (UTC) that a column of seconds since 1970 holds."""
    return datetime.fromtimestamp(seconds, UTC)


class RowStore(Protocol):
    """Does work with a database on a thread of its own; see `actors.store.Store`."""

    def write(self, work: Callable[[Any], T], /) -> T:
        """Do it within a transaction; what it returns, once that is committed."""

    def read(self, work: Callable[[Any], T], /) -> T:
        """Do it with a connection that only reads."""

    def awrite(self, work: Callable[[Any], T], /) -> Coroutine[Any, Any, T]:
        """The awaitable twin of `write`."""

    def aread(self, work: Callable[[Any], T], /) -> Coroutine[Any, Any, T]:
        """The awaitable twin of `read`."""
