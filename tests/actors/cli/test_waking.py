"""A signal is heeded also where the main thread was just about to wait."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import pytest

from actors.cli.interrupt import interrupts_cancel
from actors.cli.waking import WAKING, signals_wake


class Heeded(Exception):
    """The handler ran."""


@contextmanager
def taken_by_another_thread() -> Iterator[int]:
    """SIGUSR1 has a handler that raises, and does not interrupt the main thread; gives an empty pipe."""

    def heed(number: int, frame: FrameType | None) -> None:
        raise Heeded

    before = signal.signal(signal.SIGUSR1, heed)
    empty, other = os.pipe()
    try:
        yield empty
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
        signal.signal(signal.SIGUSR1, before)
        os.close(empty)
        os.close(other)


def wait_with_a_signal_pending(empty: int) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    os.kill(os.getpid(), signal.SIGUSR1)
    os.read(empty, 1)


def test_a_signal_that_came_just_before_a_wait_ends_the_wait() -> None:
    with taken_by_another_thread() as empty, pytest.raises(Heeded), signals_wake():
        wait_with_a_signal_pending(empty)


def test_a_signal_during_a_turn_is_passed_on_to_who_wakes() -> None:
    with (
        taken_by_another_thread() as empty,
        pytest.raises(Heeded),
        signals_wake(),
        interrupts_cancel(lambda: None),
    ):
        wait_with_a_signal_pending(empty)


def test_everything_is_as_it_was_afterwards() -> None:
    before = signal.getsignal(WAKING)
    with signals_wake():
        pass
    assert signal.getsignal(WAKING) is before
    assert signal.set_wakeup_fd(-1) == -1


def test_in_another_thread_nothing_changes() -> None:
    found = []

    def look() -> None:
        with signals_wake():
            found.append(signal.getsignal(WAKING))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [signal.getsignal(WAKING)]
