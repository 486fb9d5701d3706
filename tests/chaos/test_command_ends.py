"""`greenroom run` ended by a signal at a random moment: the right exit code, no traceback, nothing left."""

from __future__ import annotations

import random
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from actors.testing import Failure, ScriptedModelServer
from tests.actors.cli.program import COMMAND, environment

ENDS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -signal.SIGKILL}


@contextmanager
def started(server: ScriptedModelServer) -> Iterator[subprocess.Popen[bytes]]:
    """The command, whose first request has come, so that Python has loaded it."""
    options = ["--base-url", server.base_url, "--model", "m"]
    with subprocess.Popen(
        [*COMMAND, "run", "why?", *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        try:
            server.wait_until(lambda it: len(it.chats) == 1, timeout_s=30)
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("number", ENDS, ids=lambda number: number.name)
@pytest.mark.parametrize("seed", range(3))
def test_a_signal_during_a_turn_ends_the_command(number: signal.Signals, seed: int) -> None:
    with ScriptedModelServer([Failure("silent")]) as server, started(server) as process:
        threading.Event().wait(random.Random(seed).random() / 10)
        process.send_signal(number)
        _, said = process.communicate(timeout=30)
        server.wait_until(lambda it: it.hangups == 1)
    assert process.returncode == ENDS[number]
    assert b"Traceback" not in said


@pytest.mark.parametrize("pause_s", [0.0, 0.005, 0.05])
def test_a_second_ctrl_c_ends_the_command_wherever_the_first_one_is(pause_s: float) -> None:
    with ScriptedModelServer([Failure("silent")]) as server, started(server) as process:
        process.send_signal(signal.SIGINT)
        threading.Event().wait(pause_s)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert process.returncode in (130, -signal.SIGINT)
    assert b"Traceback" not in said
