"""`ServerLog`: what a server writes to standard error: lines to our log, and the last of it for messages.

A server that floods its log would have ours written instead of its answers read: beyond
`LINES_A_SECOND` lines are counted and not logged.
"""

from __future__ import annotations

import re
import time

import structlog

from actors.mcp.lines import Line, LineSplitter, TooLong

TAIL_BYTES = 4 * 1024
LINES_A_SECOND = 200
_LINE_BYTES = 16 * 1024
_SHOWN_LINES = 3
_SHOWN_CHARS = 400
# Colours and the like (ECMA-48 control sequences).
_CONTROL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")

_log = structlog.get_logger(__name__)


class ServerLog:
    """Of the server of that name. Keeps `TAIL_BYTES`; no I/O but that of the log."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lines = LineSplitter(_LINE_BYTES)
        self._tail = bytearray()
        self._second = 0
        self._logged = 0

    def feed(self, chunk: bytes) -> None:
        """Take what was written next."""
        self._tail += chunk[-TAIL_BYTES:]
        del self._tail[:-TAIL_BYTES]
        for line in self._lines.feed(chunk):
            self._log_line(line)

    def _log_line(self, line: Line) -> None:
        now = int(time.monotonic())
        if now != self._second:
            if self._logged > LINES_A_SECOND:
                skipped = self._logged - LINES_A_SECOND
                _log.debug("a server logs a lot", server=self._name, lines_skipped=skipped)
            self._second, self._logged = now, 0
        self._logged += 1
        if self._logged <= LINES_A_SECOND:
            text = line.start + b"..." if isinstance(line, TooLong) else line
            shown = text.decode("utf-8", errors="replace")
            _log.debug("a server's log", server=self._name, line=shown)

    def said(self) -> str:
        """`; it said last: ` and its last lines, cut short; empty where there are none.

        Indented lines are left out where there are others: they are the frames of a stack trace, and the
        error itself is not indented, neither Python's nor Node's.
        """
        text = _CONTROL.sub("", self._tail.decode("utf-8", errors="replace"))
        lines = [line for line in text.splitlines() if line.strip()]
        lines = [line for line in lines if not line[0].isspace()] or lines
        shown = "; ".join(" ".join(line.split()) for line in lines[-_SHOWN_LINES:])
        return f"; it said last: {shown[-_SHOWN_CHARS:]}" if shown else ""
