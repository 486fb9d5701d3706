"""`LineSplitter`: the lines in a stream of bytes, without I/O.

    splitter = LineSplitter()
    for line in splitter.feed(chunk): ...    # bytes without their line end, or TooLong
    splitter.rest()                          # what came after the last line end, when the stream is over

The lines do not depend on how the stream is cut into chunks. Time is linear in the bytes fed, and what is
kept between two feeds is at most `limit` bytes.
"""

from __future__ import annotations

from msgspec import Struct

LIMIT_BYTES = 64 * 1024 * 1024
SHOWN_BYTES = 100
_BOM = b"\xef\xbb\xbf"


class TooLong(Struct, frozen=True):
    """A line longer than `limit` bytes was dropped, to its end; `start` is how it begins."""

    limit: int
    start: bytes


Line = bytes | TooLong


class LineSplitter:
    """See the module.

    Lines end with LF or CRLF. Blank lines, and a byte order mark that begins the stream, are dropped. A
    line longer than `limit` bytes is told as `TooLong`, once, as soon as that is known; the next line is
    read as usual.
    """

    def __init__(self, limit: int = LIMIT_BYTES) -> None:
        self._limit = limit
        self._begun = bytearray()
        self._dropping = False
        self._first = True

    def feed(self, data: bytes) -> list[Line]:
        """The lines that `data` completes, in order."""
        *ends, rest = data.split(b"\n")
        lines: list[Line] = []
        for end in ends:
            self._append(end, lines)
            self._finish(lines)
        self._append(rest, lines)
        return lines

    def rest(self) -> list[Line]:
        """The line whose end never came, if there is one; the stream is over."""
        lines: list[Line] = []
        self._finish(lines)
        return lines

    def _append(self, part: bytes, lines: list[Line]) -> None:
        """The line goes on with `part`."""
        if self._dropping or not part:
            return
        if len(self._begun) + len(part) > self._limit:
            start = bytes(self._begun[:SHOWN_BYTES] + part[:SHOWN_BYTES])[:SHOWN_BYTES]
            lines.append(TooLong(self._limit, start))
            self._begun = bytearray()
            self._dropping = True
        else:
            self._begun += part

    def _finish(self, lines: list[Line]) -> None:
        """The line is over."""
        line = bytes(self._begun).removesuffix(b"\r")
        if self._first:
            line = line.removeprefix(_BOM)
        if line and not line.isspace():
            lines.append(line)
        if self._begun:
            self._begun = bytearray()
        self._dropping = self._first = False
