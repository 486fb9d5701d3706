"""SIGTERM: the command ends in order, as after Ctrl-C, and a second one ends it at once.

Dying on the spot would leave a terminal as the line editor has set it, without echo, and a download of pip
running on.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Terminated(BaseException):
    """SIGTERM came. No `Exception`, so that nothing on its way takes it for a failure of its own."""


@contextmanager
def terminable() -> Iterator[None]:
    """Within the block SIGTERM raises Terminated in the main thread.

    Where it is ignored, or in another thread than the main one, nothing changes.
    """
    ignored = signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    if ignored or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _terminate(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  the signal module's signature
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    raise Terminated
