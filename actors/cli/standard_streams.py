"""The three standard streams of a command: there, able to take any text, and not in each other's way.

A program may be started with one of them closed. Whatever is opened next gets its number, which ends badly:
an answer printed into a socket, an event loop that refuses to live. So each gets an end first.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from typing import Any, Literal, TextIO

_NAMES = ("stdin", "stdout", "stderr")


def prepare_streams() -> None:
    """Open what is closed, on nothing, and let each stream carry any text. Once, before anything else."""
    for number, name in enumerate(_NAMES):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest free: this one
        stream: Any = getattr(sys, name)
        if stream is None:
            setattr(sys, name, _opened(number, "w" if number else "r"))
        else:
            stream.reconfigure(errors="replace")


def forget_lost_output() -> None:
    """If what is left of standard output cannot be written, let Python's own last flush go nowhere."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except ValueError:
        pass  # a tool closed it: nothing will be flushed


@contextmanager
def output_stream(*, alone: bool) -> Iterator[TextIO]:
    """Standard output; with `alone` nobody else's within the block, so that a program can read it.

    What a tool prints, or a process it starts, then goes to standard error.
    """
    out = sys.stdout
    if not alone:
        yield out
    elif _number_of(out) != 1:  # somebody has put a stream of their own there
        with redirect_stdout(sys.stderr):
            yield out
    else:
        with _moved_away(out) as moved:
            yield moved


@contextmanager
def _moved_away(out: TextIO) -> Iterator[TextIO]:
    out.flush()
    moved = _opened(os.dup(1), "w", encoding=out.encoding)
    os.dup2(2, 1)
    try:
        yield moved
    finally:
        with suppress(OSError, ValueError):  # nobody reads it any more; a tool closed it
            out.flush()
        os.dup2(moved.fileno(), 1)
        with suppress(OSError):
            moved.close()


def _opened(number: int, mode: Literal["r", "w"], *, encoding: str = "utf-8") -> TextIO:
    """A text stream on a descriptor; the standard ones stay open when it is closed."""
    return open(number, mode, encoding=encoding, errors="replace", closefd=number > 2)


def _number_of(stream: TextIO) -> int | None:
    try:
        return stream.fileno()
    except (OSError, ValueError):
        return None
