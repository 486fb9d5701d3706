"""Ctrl-C while a turn runs: the first one cancels the turn, the second one ends the program.

A signal handler may run between any two instructions of the main thread, also while that thread holds a
lock that cancelling needs. So the handler only puts a word into a queue made for this, and a thread that
lives as long as the turn does the cancelling.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from types import FrameType


class Interrupts:
    """How often Ctrl-C came during one turn."""

    def __init__(self) -> None:
        self.count = 0
        self._wishes: SimpleQueue[bool] = SimpleQueue()

    def on_signal(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        """The signal handler. Raises KeyboardInterrupt from the second time on."""
        self.count += 1
        if self.count > 1:
            raise KeyboardInterrupt
        self._wishes.put(True)

    def obey(self, cancel: Callable[[], object]) -> None:
        """Call `cancel` for each wish until `end`; runs on a thread of its own."""
        while self._wishes.get():
            cancel()

    def end(self) -> None:
        """No wish will come any more."""
        self._wishes.put(False)


@contextmanager
def interrupts_cancel(cancel: Callable[[], object]) -> Iterator[Interrupts]:
    """Within the block Ctrl-C calls `cancel` once, from another thread; a second one raises.

    Python lets only the main thread handle signals; in any other this changes nothing.
    """
    interrupts = Interrupts()
    if threading.current_thread() is not threading.main_thread():
        yield interrupts
        return
    obeying = threading.Thread(target=interrupts.obey, args=(cancel,), name="interrupts")
    obeying.start()
    before = signal.signal(signal.SIGINT, interrupts.on_signal)
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, before)
        interrupts.end()
        obeying.join()
