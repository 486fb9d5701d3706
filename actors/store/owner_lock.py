"""`OwnerLock`: one owner of a store's file at a time, over all processes.

A lock on a file beside it, `<path>.owner`, which holds the owner's process id. The system lets go of it when
the process ends, in whatever way; the file stays.
"""

from __future__ import annotations

import errno
import fcntl
import os
from typing import Final

from actors.errors import DatabaseError, StoreInUse

_READ_BYTES: Final = 32


class OwnerLock:
    """Taken when it is made. Raises StoreInUse: there is an owner. Raises DatabaseError: no lock can be had."""

    def __init__(self, path: str) -> None:
        self._path = f"{path}.owner"
        try:
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise DatabaseError(
                f"cannot become the owner of a store: {self._path!r}: {error.strerror}",
                db_path=path,
            ) from error
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, str(os.getpid()).encode(), 0)
        except OSError as error:
            owner = os.pread(self._descriptor, _READ_BYTES, 0).decode("ascii", "replace")
            os.close(self._descriptor)
            if error.errno in (errno.EAGAIN, errno.EACCES):
                raise StoreInUse(path, int(owner) if owner.isdecimal() else 0) from error
            raise DatabaseError(
                f"cannot become the owner of a store: {self._path!r}: {error.strerror}",
                db_path=path,
            ) from error

    def release(self) -> None:
        """Let others be the owner. May be called again."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)
