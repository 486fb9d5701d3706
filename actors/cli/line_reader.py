"""Where a chat takes its lines from: a person at a terminal, or a pipe.

At a terminal there is a prompt, editing and a history (readline); from a pipe there is none of these.
"""

from __future__ import annotations

import sys
from typing import Protocol, TextIO

try:
    import readline
except ImportError:  # pragma: no cover - a Python built without it has plain input
    readline = None  # type: ignore[assignment]  # the name must exist either way

HISTORY_LINES = 1000


class LineReader(Protocol):
    """Reads one line after the other."""

    def read(self, prompt: str) -> str | None:
        """The next line without its end, None after the last one.

        Raises:
            KeyboardInterrupt: Ctrl-C came while waiting for a line.
        """


class TerminalLines:
    """Lines of a person; the arrow keys bring earlier ones back."""

    def __init__(self) -> None:
        if readline is not None:
            readline.set_history_length(HISTORY_LINES)

    def read(self, prompt: str) -> str | None:
        """See LineReader. Ctrl-D is the end."""
        try:
            return input(prompt)
        except EOFError:
            return None


class PipedLines:
    """Lines of a file or another program; no prompt is shown."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def read(self, prompt: str) -> str | None:  # noqa: ARG002
        """See LineReader."""
        line = self._stream.readline()
        return line.rstrip("\r\n") if line else None


def standard_lines() -> LineReader:
    """A reader of standard input, by what it is."""
    if (
        sys.stdin is not None
        and sys.stdin.isatty()
        and sys.stdout is not None
        and sys.stdout.isatty()
    ):
        return TerminalLines()
    return PipedLines(sys.stdin)
