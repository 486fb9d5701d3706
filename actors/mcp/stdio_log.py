"""`ServerLog`: what a server writes to standard error: each line to our log, and the last of it for messages."""

from __future__ import annotations

import re

import structlog

from actors.mcp.lines import LineSplitter, TooLong

TAIL_BYTES = 4 * 1024
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

    def feed(self, chunk: bytes) -> None:
        """Take what was written next."""
        self._tail += chunk[-TAIL_BYTES:]
        del self._tail[:-TAIL_BYTES]
        for line in self._lines.feed(chunk):
            text = line.start + b"..." if isinstance(line, TooLong) else line
            _log.debug(
                "a server's log", server=self._name, line=text.decode("utf-8", errors="replace")
            )

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
