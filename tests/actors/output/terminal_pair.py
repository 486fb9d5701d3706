"""A real pseudo terminal: what is printed on its one end is read at the other."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TextIO


@dataclass
class TerminalPair:
    """`stream` is the program's side; `until` reads what a person would get."""

    stream: TextIO
    master: int
    seen: str = field(default="")

    def until(self, text: str, bound_s: float = 10.0) -> str:
        """Everything that came so far, as soon as it holds `text`; fails after `bound_s`."""
        deadline = time.monotonic() + bound_s
        while text not in self.seen:
            left_s = deadline - time.monotonic()
            assert left_s > 0, f"{text!r} did not come; came {self.seen!r}"
            if select.select([self.master], [], [], left_s)[0]:
                self.seen += os.read(self.master, 65536).decode("utf-8", "replace")
        return self.seen


@contextmanager
def terminal_pair() -> Iterator[TerminalPair]:
    """Both ends, closed at the end."""
    master, slave = os.openpty()
    with os.fdopen(slave, "w", encoding="utf-8") as stream:
        try:
            yield TerminalPair(stream, master)
        finally:
            os.close(master)
