"""A text stream to print on, as it is: a terminal or not, with colours or not, gone or still there.

For the handlers that print. It promises that one `write` comes out in one piece (a lock, one flush), that no
text stops it (what the stream's encoding cannot say becomes a question mark), and that a reader who went
away (`greenroom run ... | head -1`) is no error: `lost` becomes true and later writes do nothing. A full disk
is an error and passes through.

Text of a model or a tool goes through `clean` or `paint`, so that it cannot send commands to the terminal.
A status line is the last line of a terminal, drawn over itself and taken away before anything else is
written.
"""

from __future__ import annotations

import errno
import os
import re
import sys
import threading
from collections.abc import Mapping
from typing import TextIO

from actors.output.json_text import printable

STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
"""The names `paint` knows, and the SGR codes they stand for."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_ERASE_LINE = "\r\x1b[2K"


class Console:
    """See the module. Usable from any thread."""

    def __init__(
        self, stream: TextIO | None = None, *, environ: Mapping[str, str] = os.environ
    ) -> None:
        """`stream` is `sys.stdout` of this moment if None. `environ` is asked for NO_COLOR and TERM."""
        self._stream = sys.stdout if stream is None else stream
        self._lock = threading.Lock()
        self._at_line_start = True
        self._status_shown = False
        # A process started without a standard output has None there.
        self.lost = self._stream is None
        dumb = environ.get("TERM", "") == "dumb"
        self.is_terminal = not self.lost and self._stream.isatty() and not dumb
        self.coloured = self.is_terminal and not environ.get("NO_COLOR")

    @property
    def width(self) -> int:
        """Columns of the terminal now; 80 where there is none."""
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or 80
        except (OSError, ValueError, AttributeError):  # no descriptor, or not one of a terminal
            return 80

    def clean(self, text: str) -> str:
        """`text` without what a terminal would obey; unchanged if this is no terminal."""
        if not self.is_terminal:
            return text
        return _CONTROL.sub("\ufffd", text.replace("\r\n", "\n"))

    def paint(self, text: str, *styles: str) -> str:
        """`text`, cleaned, in `styles` (keys of STYLES); only cleaned where there are no colours."""
        cleaned = self.clean(text)
        if not self.coloured or not cleaned:
            return cleaned
        codes = ";".join(STYLES[style] for style in styles)
        return f"\x1b[{codes}m{cleaned}\x1b[0m"

    def write(self, text: str) -> None:
        """Print `text` as it is, line ends included, and flush."""
        if not text:
            return
        with self._lock:
            self._put(self._erasing() + text)
            self._at_line_start = text.endswith("\n")

    def show_status(self, text: str) -> None:
        """Draw the status line; nothing happens without a terminal or in the middle of a line."""
        if not self.is_terminal:
            return
        line = self.clean(text).replace("\n", " ")[: self.width - 1]
        with self._lock:
            if self._at_line_start:
                self._put(f"{_ERASE_LINE}{line}")
                self._status_shown = True

    def clear_status(self) -> None:
        """Take the status line away, if there is one."""
        with self._lock:
            self._put(self._erasing())

    def _erasing(self) -> str:
        if not self._status_shown:
            return ""
        self._status_shown = False
        return _ERASE_LINE

    def _put(self, text: str) -> None:
        if self.lost or not text:
            return
        try:
            self._stream.write(self._encodable(text))
            self._stream.flush()
        except OSError as error:
            if error.errno not in (errno.EPIPE, errno.EIO):  # EIO: the terminal was closed
                raise
            self.lost = True

    def _encodable(self, text: str) -> str:
        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        return printable(text).encode(encoding, "replace").decode(encoding)
