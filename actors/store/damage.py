"""What is to be done about a store's file that is damaged or has gone: decided here, carried out by its writer."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final

from msgspec import Struct

from actors.errors import DatabaseError
from actors.store.database import Database
from actors.store.database_options import DatabaseOptions

_DAMAGED: Final = frozenset({11, 26})
"""SQLITE_CORRUPT, SQLITE_NOTADB."""

_SUSPECT: Final = _DAMAGED | {10}
"""SQLITE_IOERR as well: the disk may be to blame, and not what is on it."""

_SIDE_FILES: Final = ("-wal", "-shm")

FileId = tuple[int, int]
"""Which file it is, whatever its name: device and inode."""


class StoreFileReplaced(Struct, frozen=True):
    """A store began anew, with an empty file, because its file was damaged or has gone.

    `moved_to` is where the damaged file lies now, with its write-ahead log beside it; None if it had gone.
    """

    path: str
    why: str
    moved_to: str | None


def is_suspect(error: BaseException) -> bool:
    """Whether an error says that the file may be unusable as it is."""
    return isinstance(error, DatabaseError) and error.code in _SUSPECT


def file_id(path: str) -> FileId | None:
    """None if there is no such file."""
    try:
        found = os.stat(path)  # noqa: PTH116 - before every commit, and a third of the time
    except OSError:
        return None
    return found.st_dev, found.st_ino


def damage_in(path: str, options: DatabaseOptions) -> str:
    """What is wrong with the file, or nothing.

    Raises DatabaseError: it cannot be looked at, which says nothing of what is in it.
    """
    try:
        with Database(path, options) as database:
            problems = database.check_integrity()
    except DatabaseError as error:
        if error.code not in _DAMAGED:
            raise
        return str(error)
    return problems[0] if problems else ""


def set_aside(path: str) -> str:
    """Rename the file, and its log; nothing is deleted. The new name, which was not in use.

    Raises DatabaseError: it cannot be renamed.
    """
    stem = f"{path}.damaged-{time.strftime('%Y%m%dT%H%M%S')}"
    target, number = stem, 1
    while Path(target).exists():
        number += 1
        target = f"{stem}-{number}"
    try:
        for suffix in ("", *_SIDE_FILES):
            if Path(path + suffix).exists():
                Path(path + suffix).rename(target + suffix)
    except OSError as error:
        raise DatabaseError(
            f"cannot set the damaged file aside: {error.strerror}", db_path=path
        ) from error
    return target
