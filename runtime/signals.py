"""SIGTERM and SIGINT for daemons: the first one stops the tree in order, a second one at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType

from runtime.errors import MisuseError

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def wait_for_signal(
    ended: Callable[[float], bool],
    stop_in_order: Callable[[], None],
    stop_at_once: Callable[[], None],
) -> signal.Signals | None:
    """Wait in the main thread until a signal has stopped the system, or it has ended by itself.

    `ended(seconds)` waits that long and says whether the system has ended. Earlier signal handlers are
    put back. Returns the first signal, or None.

    Raises MisuseError outside the main thread, where Python delivers no signals.
    """
    if threading.current_thread() is not threading.main_thread():
        raise MisuseError(
            "run_until_signal() works in the main thread only; elsewhere use shutdown()"
        )
    received: list[signal.Signals] = []

    def note(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the signal module's signature
        received.append(signal.Signals(number))

    before = {number: signal.signal(number, note) for number in _SIGNALS}
    try:
        acted = 0
        while not ended(0.1):
            if len(received) > acted:
                acted += 1
                (stop_in_order if acted == 1 else stop_at_once)()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return received[0] if received else None
