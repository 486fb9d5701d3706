"""Tells that something takes long: after a second, a line on the terminal that counts the seconds.

For waits nobody sees the end of: the model loads, thinks, or a tool runs. Short waits stay silent, and so
does everything that is no terminal.
"""

from __future__ import annotations

import threading
import time

from actors.output.console import Console

SILENT_FOR_S = 1.0


class Progress:
    """One wait at a time on one console.

    A wait costs a thread while it lasts, which `stop` joins. `stop` may come from any thread, also twice at
    once.
    """

    def __init__(self, console: Console, *, silent_for_s: float = SILENT_FOR_S) -> None:
        self._console = console
        self._silent_for_s = silent_for_s
        self._wait: tuple[threading.Thread, threading.Event] | None = None

    def start(self, message: str) -> None:
        """A wait begins; a wait that still lasts ends."""
        self.stop()
        if not self._console.is_terminal:
            return
        over = threading.Event()
        thread = threading.Thread(
            target=self._count, args=(message, over), name="progress", daemon=True
        )
        thread.start()
        self._wait = (thread, over)

    def stop(self) -> None:
        """The wait ended; its line is gone when this returns."""
        wait, self._wait = self._wait, None
        if wait is None:
            return
        thread, over = wait
        over.set()
        thread.join()
        self._console.clear_status()

    def _count(self, message: str, over: threading.Event) -> None:
        began = time.monotonic()
        pause_s = self._silent_for_s
        while not over.wait(pause_s):
            self._console.show_status(f"{message} ... {time.monotonic() - began:.0f} s")
            pause_s = 1.0
