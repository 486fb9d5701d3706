"""`DatabaseOptions`: how a database is opened."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from actors.errors import InvalidArgument

_LONGEST_BUSY_MS = 2**31 - 1  # SQLite keeps it in a C int

Durability = Literal["process", "machine"]


class DatabaseOptions(Struct, frozen=True, kw_only=True):
    """How a database is opened (gaia section 12).

    * `wal_mode`: write-ahead log, so that readers and one writer do not wait for each other. Has no meaning
      for `:memory:` and for a read-only database.
    * `busy_timeout_ms`: how long a statement waits for another connection's lock.
    * `foreign_keys`: whether they are enforced.
    * `read_only`: writes are refused; the file must exist.
    * `create_if_missing`: a missing file is made, and its directories.
    * `durability`: what a committed transaction survives: the death of the `process`, or that of the
      `machine` (power loss) as well, which costs an fsync per commit. Without the log it is always `machine`.

    Raises InvalidArgument for a time that is negative or too long.
    """

    wal_mode: bool = True
    busy_timeout_ms: int = 5000
    foreign_keys: bool = True
    read_only: bool = False
    create_if_missing: bool = True
    durability: Durability = "process"

    def __post_init__(self) -> None:
        if not 0 <= self.busy_timeout_ms <= _LONGEST_BUSY_MS:
            raise InvalidArgument(
                f"busy_timeout_ms is {self.busy_timeout_ms}, expected 0 to {_LONGEST_BUSY_MS}"
            )
        if self.durability not in ("process", "machine"):
            raise InvalidArgument(
                f"durability is {self.durability!r}, expected 'process' or 'machine'"
            )
