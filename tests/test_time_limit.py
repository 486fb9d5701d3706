"""A test that would hang fails, with a stack that tells where."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading

import pytest

from tests.time_limit import DEFAULT_S, LastResort, alarm, limit_of


def test_a_wait_that_never_ends_fails_and_shows_where_it_waits() -> None:
    with pytest.raises(pytest.fail.Exception, match=r"took longer than 0\.01 s") as caught:
        with alarm(0.01, "the wait"):
            threading.Event().wait()
    assert "threading.Event().wait()" in str(caught.value)


def test_an_event_loop_that_never_ends_fails_too() -> None:
    async def wait_for_ever() -> None:
        await asyncio.Event().wait()

    with pytest.raises(pytest.fail.Exception, match="took longer"), alarm(0.01, "the loop"):
        asyncio.run(wait_for_ever())


@pytest.mark.time_limit(0.05)
def test_an_inner_alarm_leaves_the_outer_one_running() -> None:
    with alarm(30, "the inner wait"):
        pass
    with pytest.raises(pytest.fail.Exception, match=r"the test took longer than 0\.05 s"):
        threading.Event().wait()


@pytest.mark.time_limit(7)
def test_the_marker_changes_the_limit(request: pytest.FixtureRequest) -> None:
    assert limit_of(request.node) == 7


def test_without_a_marker_the_default_holds(request: pytest.FixtureRequest) -> None:
    assert limit_of(request.node) == DEFAULT_S


def test_the_last_resort_ends_a_process_that_no_longer_listens() -> None:
    program = (
        "import signal, threading\n"
        "from tests.time_limit import LastResort\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())\n"
        "LastResort().arm(0.01)\n"
        "threading.Event().wait()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 1
    assert "Timeout" in done.stderr
    assert 'File "<string>", line 5' in done.stderr


def test_the_last_resort_can_be_disarmed() -> None:
    last_resort = LastResort()
    last_resort.arm(30)
    last_resort.close()
