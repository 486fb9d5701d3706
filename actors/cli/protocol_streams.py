"""Standard input and output for a protocol alone."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def protocol_streams() -> Iterator[tuple[int, int]]:
    """Descriptors for reading and writing; within the block nobody else has them.

    What a tool prints goes to standard error, as does what a program writes that it starts; who reads
    standard input finds its end.
    """
    sys.stdout.flush()
    read_fd, write_fd = os.dup(0), os.dup(1)  # which no program that a tool starts inherits
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    try:
        yield read_fd, write_fd
    finally:
        sys.stdout.flush()
        os.dup2(read_fd, 0)
        os.dup2(write_fd, 1)
        os.close(read_fd)
        os.close(write_fd)
