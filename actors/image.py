"""Images for vision models: their bytes, their type, their wire form (gaia 13).

A file is read only if it is a regular one of bounded size: a link, a FIFO or a device at its path is
refused and never waited for. `actors.model.message.user_message` puts images into a message.
"""

from __future__ import annotations

import base64
import os
import stat
from pathlib import Path

from msgspec import Struct

from actors.errors import ImageError, InvalidArgument

MIME_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp")

MAX_BYTES = 20 * 1024 * 1024
"""The largest image file that is read."""

SHORTEST = 12
"""Fewer bytes than this tell nothing of their type (gaia 13: taken for PNG)."""


def detect_mime(data: bytes | None) -> str:
    """The type the first bytes tell; `image/png` for none or fewer than 12, "" for an unknown one."""
    if data is None or len(data) < SHORTEST:
        return "image/png"
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return "image/bmp" if data.startswith(b"BM") else ""


class Image(Struct, frozen=True):
    """The bytes of an image and their type, one of `MIME_TYPES`."""

    data: bytes
    mime: str

    @classmethod
    def from_bytes(cls, data: bytes, mime: str = "") -> Image:
        """An image of these bytes; a type that is given wins over what they look like.

        Raises InvalidArgument: no bytes, a type that is not allowed, or none that can be detected.
        """
        if not data:
            raise InvalidArgument("image: expected bytes, got none")
        kind = mime or detect_mime(data)
        if kind not in MIME_TYPES:
            what = f"type {mime!r}" if mime else "bytes of an unknown type"
            raise InvalidArgument(f"image: expected one of {', '.join(MIME_TYPES)}, got {what}")
        return cls(data, kind)

    @classmethod
    def from_file(cls, path: str | Path, *, max_bytes: int = MAX_BYTES) -> Image:
        """An image of a regular file; links are not followed, and the bytes decide the type.

        Raises:
            ImageError: the file is not there or cannot be read.
            InvalidArgument: no regular file, empty, or larger than `max_bytes`; or as `from_bytes`.
        """
        return cls.from_bytes(_read_regular(Path(path), max_bytes))

    @property
    def data_uri(self) -> str:
        """The image as `data:<mime>;base64,...`."""
        return f"data:{self.mime};base64,{base64.b64encode(self.data).decode('ascii')}"


def _read_regular(path: Path, max_bytes: int) -> bytes:
    """The bytes of a file that is looked at before it is opened, for opening a device may do something,
    and after, for it may have been replaced between the two."""
    try:
        _require_regular(path, path.lstat().st_mode)
        with open(path, "rb", opener=_open_itself) as file:
            _require_regular(path, os.fstat(file.fileno()).st_mode)
            data = file.read(max_bytes + 1)
    except OSError as error:
        raise ImageError(f"image file {str(path)!r} cannot be read: {error.strerror}") from error
    if not data:
        raise InvalidArgument(f"image file {str(path)!r} is empty")
    if len(data) > max_bytes:
        raise InvalidArgument(f"image file {str(path)!r} is larger than {max_bytes} bytes")
    return data


def _open_itself(path: str, flags: int) -> int:
    """Open what stands at the path: no link is followed, no other end waited for."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)


def _require_regular(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise InvalidArgument(
            f"image file {str(path)!r} is no regular file; links are not followed"
        )
