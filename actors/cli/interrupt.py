"""Ctrl-C while a turn runs: the first one cancels the turn, the second one ends the program.

A signal handler of Python runs between two instructions of the main thread: it must not take a lock which
that thread may hold, and it does not run at all while the thread is about to block. So the cancelling is not
done there: Python writes each signal's number into a socket at once (`signal.set_wakeup_fd`), and a thread
that lives as long as the turn reads it and cancels.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

_END = b"\0"  # no signal has this number


class Interrupts:
    """How often Ctrl-C came during one turn."""

    def __init__(self) -> None:
        self.count = 0

    def on_signal(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        """The signal handler. Raises KeyboardInterrupt from the second time on."""
        self.count += 1
        if self.count > 1:
            raise KeyboardInterrupt


@contextmanager
def interrupts_cancel(cancel: Callable[[], object]) -> Iterator[Interrupts]:
    """Within the block Ctrl-C calls `cancel`, from another thread; a second one raises as well.

    Python lets only the main thread handle signals; in any other this changes nothing.
    """
    interrupts = Interrupts()
    if threading.current_thread() is not threading.main_thread():
        yield interrupts
        return
    numbers, wakeup = socket.socketpair()
    with numbers, wakeup:
        wakeup.setblocking(False)
        fd_before = signal.set_wakeup_fd(wakeup.fileno(), warn_on_full_buffer=False)
        obeying = threading.Thread(
            target=_obey, args=(numbers, cancel, fd_before), name="interrupts", daemon=True
        )
        obeying.start()
        handler_before = signal.signal(signal.SIGINT, interrupts.on_signal)
        try:
            yield interrupts
        finally:
            signal.signal(signal.SIGINT, handler_before)
            signal.set_wakeup_fd(fd_before)
            wakeup.setblocking(True)
            wakeup.send(_END)
            obeying.join()


def _obey(numbers: socket.socket, cancel: Callable[[], object], listener: int) -> None:
    """Cancel at each Ctrl-C, and pass every number on to who listened before."""
    while (number := numbers.recv(1)) not in (b"", _END):
        if number[0] == signal.SIGINT:
            cancel()
        if listener >= 0:
            with suppress(BlockingIOError):
                os.write(listener, number)
