"""Reads an HTTP/1.1 response from bytes, without I/O: feed them in any split, take the body's pieces.

After RFC 9112. Strict where leniency would let two readers see two different messages (lengths that
disagree, bad chunk sizes, bare line feeds), lenient where nothing hangs on it (folded headers, any
reason phrase). Interim responses (100, 103) are skipped, trailers dropped. A head is at most 64 KiB.
"""

from __future__ import annotations

import re
from collections.abc import Callable

HEAD_LIMIT = 65_536
"""The largest head, or trailer, that is read, in bytes."""

_LINE_LIMIT = 4096  # of a chunk's size and its extensions
_MAGIC = b"HTTP/1."
_STATUS_LINE = re.compile(r"HTTP/1\.(\d) ([1-9]\d\d)(?: .*)?")
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9a-z-]+")
_CHUNK_SIZE = re.compile(rb"([0-9a-fA-F]{1,15})[ \t]*(?:;.*)?")
_BODILESS = (101, 204, 304)


class WireError(ValueError):
    """What came is no HTTP/1.1 response, or only the beginning of one."""


class ResponseReader:
    """One response. `status` is 0 until its head has come; `done` says that its body has come whole."""

    __slots__ = ("_at", "_left", "_rest", "_step", "done", "headers", "keep_alive", "status")

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.done = False
        self.keep_alive = False
        self._rest = b""
        self._at = 0
        self._left = 0
        # A function and not a bound method, which would make a reference cycle of each response.
        self._step: Callable[[ResponseReader], bytes | None] = ResponseReader._read_head

    @property
    def surplus(self) -> bool:
        """Whether more came than this response."""
        return self.done and bool(self._rest)

    def feed(self, data: bytes) -> bytes:
        """Take bytes; gives what of them belongs to the body. Raises WireError."""
        self._rest = self._rest + data if self._rest else data
        pieces = []
        while not self.done:
            piece = self._step(self)
            if piece is None:
                break
            pieces.append(piece)
        if self._at:
            self._rest, self._at = self._rest[self._at :], 0
        return b"".join(pieces)

    def feed_eof(self) -> None:
        """The connection has ended. Raises WireError if that cuts the response off."""
        if self._step is ResponseReader._read_to_end:
            self.done = True
        elif not self.done:
            where = "in the middle of its" if self.status or self._rest else "without an"
            raise WireError(f"the server closed the connection {where} answer")

    # -- steps: each gives a piece of the body, or None when it needs more bytes -----------------------

    def _read_head(self) -> bytes | None:
        end = self._rest.find(b"\r\n\r\n", self._at)
        if end < 0:
            begun = self._rest[self._at : self._at + len(_MAGIC)]
            if not _MAGIC.startswith(begun):
                raise WireError(
                    f"expected an HTTP/1.1 response, got {self._rest[self._at :][:80]!r}"
                )
            self._stay_within(HEAD_LIMIT)
            return None
        minor, status, headers = parse_head(self._rest[self._at : end])
        self._at = end + 4
        if 100 <= status < 200 and status != 101:
            return b""
        self.status, self.headers = status, headers
        options = headers.get("connection", "").lower()
        self.keep_alive = "keep-alive" in options if minor == 0 else "close" not in options
        self._choose_framing()
        return b""

    def _choose_framing(self) -> None:
        """How the end of the body is known (RFC 9112 section 6.3)."""
        encoding, length = self.headers.get("transfer-encoding"), self.headers.get("content-length")
        if self.status in _BODILESS:
            self.done = True
        elif encoding is not None:
            if encoding.lower() != "chunked":
                raise WireError(f"expected the transfer encoding 'chunked', got {encoding!r:.80}")
            self.keep_alive = self.keep_alive and length is None
            self._step = ResponseReader._read_chunk_size
        elif length is not None:
            self._left = _parse_length(length)
            self._step, self.done = ResponseReader._read_sized, self._left == 0
        else:
            self.keep_alive = False
            self._step = ResponseReader._read_to_end

    def _read_sized(self) -> bytes | None:
        piece = self._take()
        self.done = self._left == 0
        return piece

    def _read_to_end(self) -> bytes | None:
        self._left = len(self._rest) - self._at
        return self._take()

    def _read_chunk_size(self) -> bytes | None:
        line = self._line(_LINE_LIMIT)
        if line is None:
            return None
        found = _CHUNK_SIZE.fullmatch(line)
        if found is None:
            raise WireError(f"expected the size of a chunk, got {line[:80]!r}")
        self._left = int(found[1], 16)
        self._step = ResponseReader._read_chunk if self._left else ResponseReader._read_trailer
        return b""

    def _read_chunk(self) -> bytes | None:
        piece = self._take()
        if not self._left:
            self._step = ResponseReader._read_chunk_end
        return piece

    def _read_chunk_end(self) -> bytes | None:
        line = self._line(2)
        if line is None:
            return None
        if line:
            raise WireError(f"expected the end of a chunk, got {line[:80]!r}")
        self._step = ResponseReader._read_chunk_size
        return b""

    def _read_trailer(self) -> bytes | None:
        line = self._line(HEAD_LIMIT)
        if line is None:
            return None
        self._left += len(line)
        if self._left > HEAD_LIMIT:
            raise WireError(f"expected a trailer of at most {HEAD_LIMIT} bytes")
        self.done = not line
        return b""

    # -- pieces of steps -------------------------------------------------------------------------------

    def _take(self) -> bytes | None:
        """What has come of the bytes that are left, or None if that is nothing."""
        piece = self._rest[self._at : self._at + self._left]
        self._at += len(piece)
        self._left -= len(piece)
        return piece or None

    def _line(self, limit: int) -> bytes | None:
        end = self._rest.find(b"\r\n", self._at)
        if end < 0:
            self._stay_within(limit)
            return None
        line = self._rest[self._at : end]
        self._at = end + 2
        return line

    def _stay_within(self, limit: int) -> None:
        if len(self._rest) - self._at > limit:
            raise WireError(
                f"expected an end within {limit} bytes, got {self._rest[self._at :][:80]!r}"
            )


def parse_head(head: bytes) -> tuple[int, int, dict[str, str]]:
    """The minor version, status and headers of a head without its empty line. Raises WireError.

    Names come in lower case; values of a repeated name are joined by commas (RFC 9110 section 5.3).
    """
    first, *lines = head.decode("latin-1").split("\r\n")
    found = _STATUS_LINE.fullmatch(first)
    if found is None:
        raise WireError(f"expected a status line, got {first[:80]!r}")
    headers: dict[str, str] = {}
    name = ""
    for line in lines:
        if name and line[0] in " \t":
            headers[name] = f"{headers[name]} {line.strip()}"
            continue
        name, colon, value = line.partition(":")
        name, value = name.lower(), value.strip(" \t")
        if not colon or _NAME.fullmatch(name) is None:
            raise WireError(f"expected a header, got {line[:80]!r}")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return int(found[1]), int(found[2]), headers


def _parse_length(text: str) -> int:
    """The one number of a Content-Length, which a server may repeat."""
    (length, *others) = {each.strip() for each in text.split(",")}
    if others or not length.isascii() or not length.isdigit() or len(length) > 18:
        raise WireError(f"expected one content-length, got {text[:80]!r}")
    return int(length)
