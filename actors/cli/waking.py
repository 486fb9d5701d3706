"""Signals that are heeded at once, whatever the main thread waits for.

A signal handler of Python runs between two instructions of the main thread. A signal that comes when that
thread is just about to block (at a prompt, in a lock) is noted, and handled only when the blocking ends, which
may be never. Python also writes each signal's number into a socket (`signal.set_wakeup_fd`): a thread reads it
there and interrupts the main thread's wait with a signal that means nothing, so that the handler runs.
"""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

WAKING = signal.SIGURG
"""Means nothing here, and is ignored where nobody handles it."""

_END = b"\0"  # no signal has this number
_PAUSES_S = (0.01, 0.05, 0.25)  # one that comes too early is lost as well


@contextmanager
def signals_wake() -> Iterator[None]:
    """Within the block no handled signal has to wait. Only the main thread handles any."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers, wakeup = socket.socketpair()
    with numbers, wakeup:
        wakeup.setblocking(False)
        over = threading.Event()
        work = (numbers, threading.get_ident(), over)
        waking = threading.Thread(target=_wake, args=work, name="waking", daemon=True)
        waking.start()
        handler_before = signal.signal(WAKING, lambda *_: None)
        fd_before = signal.set_wakeup_fd(wakeup.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(fd_before)
            over.set()
            wakeup.setblocking(True)
            wakeup.send(_END)
            waking.join()
            signal.signal(WAKING, handler_before)


def _wake(numbers: socket.socket, thread: int, over: threading.Event) -> None:
    while (number := numbers.recv(1)) not in (b"", _END):
        if number[0] == WAKING:
            continue
        for pause_s in _PAUSES_S:
            if over.wait(pause_s):
                break
            signal.pthread_kill(thread, WAKING)
