"""A copy of a database, whole at any instant: written beside its place, put on the disk, and renamed."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

from actors.errors import DatabaseError
from actors.store.connection import Connection


def write_backup(connection: Connection, path: Path) -> None:
    """See `Database.backup`."""
    beside = path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            connection.copy_to(str(beside))
            _put_on_the_disk(beside)
            beside.replace(path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise DatabaseError(
            f"cannot back up the database to {str(path)!r}: {error.strerror}",
            db_path=connection.path,
        ) from error


def _put_on_the_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
