"""What a local model server wrote and how it ended, in a few words for an error message. No I/O."""

from __future__ import annotations

import re
import signal

LOG_BYTES = 8 * 1024
_SHOWN_LINES = 3
_SHOWN_CHARS = 400
# llama.cpp writes: time, level, who, text.
_ERROR_LINE = re.compile(r"^[\d.]+ E (.*)$", re.MULTILINE)
_OTHER_LINE = re.compile(r"^[\d.]+ [A-Z] .*\n?", re.MULTILINE)

_HINTS = {
    signal.SIGKILL: "perhaps by the kernel because memory ran out: close programs or use a smaller model",
    signal.SIGILL: "the prebuilt llama.cpp needs a processor with AVX2 and FMA",
}


class LogTail:
    """The last `LOG_BYTES` of a log."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, chunk: bytes) -> None:
        """Take what was written next."""
        self._bytes += chunk
        del self._bytes[:-LOG_BYTES]

    def said(self) -> str:
        """`: ` and the lines that matter, cut short; empty where there are none.

        Those are llama.cpp's first errors, since the later ones follow from them; else the last lines
        that are not llama.cpp's.
        """
        text = self._bytes.decode("utf-8", errors="replace")
        errors = _ERROR_LINE.findall(text)
        if errors:
            shown = _one_line(errors[:_SHOWN_LINES])[:_SHOWN_CHARS]
        else:
            shown = _one_line(_OTHER_LINE.sub("", text).splitlines()[-_SHOWN_LINES:])[
                -_SHOWN_CHARS:
            ]
        return f": {shown}" if shown else ""


def _one_line(lines: list[str]) -> str:
    return "; ".join(" ".join(line.split()) for line in lines if line.strip())


def how_it_ended(status: int) -> str:
    """A process's return code in words: `ended with status 1`, `was ended by SIGKILL (...)`."""
    if status >= 0:
        return f"ended with status {status}"
    try:
        number = signal.Signals(-status)
    except ValueError:
        return f"was ended by signal {-status}"
    hint = _HINTS.get(number)
    return f"was ended by {number.name}" + (f" ({hint})" if hint else "")
