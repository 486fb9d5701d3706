"""Files of vectors, `.vec` version 1 (gaia section 11): little-endian, one record after the other.

    0  magic `GAIAVEC\\0`    8  u32 version    12  u32 metric (0 L2, 1 inner product)    16  u32 normalised
    20 u32 dimension        24 u64 count      32  u32 length of the model's name, and the name
    then `count` times: u32 length of the id, the id, `dimension` float32

`read_vectors` takes any buffer and does no I/O. `load_vectors` maps the file, so it is never held twice;
`save_vectors` writes beside the file and renames, so a file is whole at any instant.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np
from msgspec import Struct

from actors.errors import InvalidArgument, VectorFileError
from actors.store.vector_rows import Floats, VectorRows
from actors.store.whole_file import written_whole

_MAGIC: Final = b"GAIAVEC\0"
_VERSION: Final = 1
_HEAD: Final = struct.Struct("<8sIIIIQI")
_LENGTH: Final = struct.Struct("<I")
_CHECKED_ROWS: Final = 4_096
_WRITTEN_PARTS: Final = 3 * 1_024


class VectorHead(Struct, frozen=True):
    """What a file says of its vectors; `metric` is 0 for L2 and 1 for the inner product."""

    metric: int
    normalised: bool
    dimension: int
    model: str


def check_text(text: str, what: str) -> None:
    """Raises InvalidArgument: a file cannot hold it."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidArgument(f"{what} is {text!r}, which UTF-8 does not hold") from error


def load_vectors(path: Path) -> tuple[VectorHead, VectorRows]:
    """A file's vectors.

    Raises VectorFileError: it cannot be read, or is not such a file.
    """
    try:
        with path.open("rb") as file:
            if not os.fstat(file.fileno()).st_size:  # which cannot be mapped
                return read_vectors(memoryview(b""), path)
            with (
                mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped,
                memoryview(mapped) as view,
            ):
                return read_vectors(view, path)
    except OSError as error:
        raise VectorFileError(
            f"cannot read vectors from {str(path)!r}: {error.strerror}"
        ) from error


def read_vectors(data: memoryview, path: Path) -> tuple[VectorHead, VectorRows]:
    """The vectors in a file's bytes; `path` is for messages. Raises VectorFileError."""
    reading = _Reading(data, path)
    head, count = reading.head()
    return head, reading.rows(head, count)


class _Reading:
    """One pass over a file."""

    def __init__(self, data: memoryview, path: Path) -> None:
        self._data = data
        self._path = path
        self._at = 0

    def head(self) -> tuple[VectorHead, int]:
        if len(self._data) < _HEAD.size:
            raise self._bad(f"it has {len(self._data)} bytes, a head alone has {_HEAD.size}")
        magic, version, metric, normalised, dimension, count, length = _HEAD.unpack_from(self._data)
        if magic != _MAGIC:
            raise self._bad(f"it begins with {magic!r}, expected {_MAGIC!r}")
        if version != _VERSION:
            raise self._bad(f"its version is {version}, only {_VERSION} is known")
        if metric > 1:
            raise self._bad(f"its metric is {metric}, expected 0 (L2) or 1 (inner product)")
        if normalised > 1:
            raise self._bad(f"its mark of normalised vectors is {normalised}, expected 0 or 1")
        if count and not dimension:
            raise self._bad(f"it has {count} vectors of dimension 0")
        self._at = _HEAD.size
        model = self._text(length, "the model's name")
        left = len(self._data) - self._at
        if count > left // (_LENGTH.size + 1 + 4 * dimension):
            raise self._bad(
                f"it says that {count} vectors follow, in the {left} bytes that are left"
            )
        return VectorHead(metric, bool(normalised), dimension, model), count

    def rows(self, head: VectorHead, count: int) -> VectorRows:
        ids: list[str] = []
        known: set[str] = set()
        matrix = np.empty((count, head.dimension), "<f4")
        into = matrix.data.cast("B") if count else memoryview(b"")
        size = 4 * head.dimension
        for number in range(count):
            id_ = self._id(number)
            if id_ in known:
                raise self._bad(f"its ids are not unique, {id_!r} comes again")
            end = self._at + size
            if end > len(self._data):
                raise self._bad(f"it ends within the vector of {id_!r}")
            into[number * size : (number + 1) * size] = self._data[self._at : end]
            self._at = end
            known.add(id_)
            ids.append(id_)
        if self._at != len(self._data):
            raise self._bad(f"{len(self._data) - self._at} bytes follow after the last vector")
        self._check_finite(ids, matrix)
        return VectorRows.of(ids, matrix.astype(np.float32, copy=False), halved=head.metric == 0)

    def _id(self, number: int) -> str:
        if self._at + _LENGTH.size > len(self._data):
            raise self._bad(f"it ends before vector {number + 1}")
        (length,) = _LENGTH.unpack_from(self._data, self._at)
        self._at += _LENGTH.size
        if not length:
            raise self._bad(f"the id of vector {number + 1} is empty")
        return self._text(length, f"the id of vector {number + 1}")

    def _text(self, length: int, what: str) -> str:
        end = self._at + length
        if end > len(self._data):
            raise self._bad(f"it ends within {what}")
        try:
            text = str(self._data[self._at : end], "utf-8")
        except UnicodeDecodeError as error:
            raise self._bad(f"{what} is no UTF-8") from error
        self._at = end
        return text

    def _check_finite(self, ids: list[str], matrix: Floats) -> None:
        for start in range(0, len(ids), _CHECKED_ROWS):
            finite = np.isfinite(matrix[start : start + _CHECKED_ROWS]).all(axis=1)
            if not finite.all():
                id_ = ids[start + int(np.argmin(finite))]
                raise self._bad(f"the vector of {id_!r} holds a value that is not finite")

    def _bad(self, why: str) -> VectorFileError:
        return VectorFileError(
            f"{str(self._path)!r} is not a file of vectors that can be used: {why}"
        )


def save_vectors(path: Path, head: VectorHead, rows: VectorRows) -> None:
    """Put a whole new file in the place of the old one; missing directories are made.

    What is written is on the disk before it takes the place. Raises VectorFileError: it cannot; the old file
    is as it was, then.
    """
    try:
        with written_whole(path) as beside, beside.open("xb") as file:
            _write(file, head, rows)
    except OSError as error:
        raise VectorFileError(f"cannot save vectors to {str(path)!r}: {error.strerror}") from error


def _write(file: BinaryIO, head: VectorHead, rows: VectorRows) -> None:
    parts: list[bytes | memoryview] = []
    for part in _parts(head, rows):
        parts.append(part)
        if len(parts) >= _WRITTEN_PARTS:
            file.write(b"".join(parts))
            parts.clear()
    file.write(b"".join(parts))


def _parts(head: VectorHead, rows: VectorRows) -> Iterator[bytes | memoryview]:
    model = head.model.encode()
    yield _HEAD.pack(
        _MAGIC, _VERSION, head.metric, head.normalised, head.dimension, len(rows), len(model)
    )
    yield model
    for id_, vector in rows:
        encoded = id_.encode()
        yield _LENGTH.pack(len(encoded))
        yield encoded
        yield vector.astype("<f4", copy=False).data
