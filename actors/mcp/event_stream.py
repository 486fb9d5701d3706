"""Server-sent events, decoded without I/O: feed bytes in any split, take events (WHATWG HTML, section 9.2).

    decoder = EventStream()
    for event in decoder.feed(chunk):
        ...

Lines end at LF, CR or CRLF; an event ends at a blank line, and what follows the last one is no event. An
event without data is told as well if it has an id or a `retry`: servers of MCP begin a stream with one, so
that it can be taken up again before there is anything to say.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

EVENT_LIMIT: Final = 64 * 1024 * 1024
"""Default for the longest event, in bytes; a longer one is an error, not memory without end."""

_LINE_END = re.compile(rb"\r\n|\r|\n")
_BOM = b"\xef\xbb\xbf"


class EventTooLong(ValueError):
    """An event is longer than the limit; the stream cannot be read any further."""


class ServerEvent(Struct, frozen=True):
    """One event: its data in UTF-8, its kind (`message` unless it says otherwise).

    `id` is what this event says of it, None where it says nothing; an empty one takes an earlier one
    back. `retry_ms` are the milliseconds to wait before the stream is asked for again, None likewise.
    """

    data: bytes = b""
    event: str = "message"
    id: str | None = None
    retry_ms: int | None = None


class EventStream:
    """One stream, from its first byte. Time is linear in what is fed, however it is split."""

    def __init__(self, *, limit_bytes: int = EVENT_LIMIT) -> None:
        self._limit = limit_bytes
        self._begun = False
        self._after_cr = False
        self._pending: list[bytes] = []  # the pieces of a line that has not ended
        self._size = 0  # of them and of the data of the event
        self._begin_event()

    def _begin_event(self) -> None:
        self._data: list[bytes] = []
        self._event = ""
        self._id: str | None = None
        self._retry_ms: int | None = None

    def feed(self, data: bytes) -> list[ServerEvent]:
        """Take the next bytes; the events they complete.

        Raises:
            EventTooLong: an event is longer than the limit.
        """
        events: list[ServerEvent] = []
        if not self._begun:
            data = self._without_bom(data)
        if self._after_cr and data:
            data = data.removeprefix(b"\n")  # the second half of a CRLF
            self._after_cr = False
        self._after_cr = self._after_cr or data.endswith(b"\r")
        *lines, rest = _LINE_END.split(data)
        for line in lines:
            self._keep(line)
            self._end_line(events)
        self._keep(rest)
        return events

    def _without_bom(self, data: bytes) -> bytes:
        """What follows a byte order mark; nothing while it is open whether there is one."""
        data = b"".join((*self._pending, data))
        self._pending = []
        if len(data) < len(_BOM) and _BOM.startswith(data):
            self._pending.append(data)
            return b""
        self._begun = True
        return data.removeprefix(_BOM)

    def _keep(self, piece: bytes) -> None:
        if not piece:
            return
        self._size += len(piece)
        if self._size > self._limit:
            raise EventTooLong(f"an event of the stream is longer than {self._limit} bytes")
        self._pending.append(piece)

    def _end_line(self, events: list[ServerEvent]) -> None:
        line = b"".join(self._pending)
        self._pending = []
        if not line:
            self._end_event(events)
        elif not self._read(line):
            self._size -= len(line)

    def _read(self, line: bytes) -> bool:
        """Read a field; whether its line is kept. One that begins with a colon is a comment."""
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        match name:
            case b"data":
                self._data.append(value)
                return True
            case b"event":
                self._event = value.decode("utf-8", errors="replace")
            case b"id" if b"\0" not in value:
                self._id = value.decode("utf-8", errors="replace")
            case b"retry" if value.isdigit():
                self._retry_ms = int(value[:18])  # more digits are as good as for ever
        return False

    def _end_event(self, events: list[ServerEvent]) -> None:
        if self._data or self._id is not None or self._retry_ms is not None:
            data = b"\n".join(self._data)
            kind = self._event or "message"
            events.append(ServerEvent(data, kind, self._id, self._retry_ms))
        self._size = 0
        self._begin_event()
