"""Ctrl-C cancels what runs; a second one ends the program."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from actors.cli.interrupt import interrupts_cancel


def press_ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_the_first_one_cancels_and_raises_nothing() -> None:
    cancelled = threading.Event()
    with interrupts_cancel(cancelled.set) as interrupts:
        press_ctrl_c()
        assert cancelled.wait(10)
    assert interrupts.count == 1


def test_the_second_one_raises() -> None:
    def endless() -> None:
        press_ctrl_c()
        press_ctrl_c()
        threading.Event().wait(10)

    with pytest.raises(KeyboardInterrupt), interrupts_cancel(lambda: None):
        endless()


def test_it_reaches_a_main_thread_that_waits_on_a_lock() -> None:
    cancelled = threading.Event()
    with interrupts_cancel(cancelled.set):
        threading.Timer(0, press_ctrl_c).start()
        assert cancelled.wait(10)  # no exception in the middle of the wait


def test_afterwards_it_interrupts_as_before() -> None:
    with interrupts_cancel(lambda: None):
        pass
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_another_thread_changes_nothing() -> None:
    seen: list[object] = []

    def elsewhere() -> None:
        with interrupts_cancel(lambda: None):
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]
