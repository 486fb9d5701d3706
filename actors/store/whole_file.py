"""`written_whole`: a file that is, at any instant, the old one or the new one, and never half of it."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Give a place beside `path`, to be written; afterwards what is there is put on the disk and renamed.

    Missing directories are made. If the block raises, or this does, nothing is left beside `path`, and the old
    file is as it was. Raises OSError.
    """
    beside = path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield beside
        _put_on_the_disk(beside)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _put_on_the_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
