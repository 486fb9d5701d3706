"""`greenroom run --provider local`, killed: the model's server goes with it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from actors.model.model_files import FoundModel
from tests.actors.cli.program import COMMAND, environment

pytestmark = pytest.mark.real

LIMIT_S = 30.0


def server_of(command: subprocess.Popen[bytes]) -> psutil.Process:
    """The server the command has started; waits for it."""
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        children = psutil.Process(command.pid).children()
        if children:
            return children[0]
        assert command.poll() is None, "the command ended by itself"
        os.sched_yield()
    raise AssertionError("no server was started")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_no_server_outlives_its_command(
    model: FoundModel, number: signal.Signals, tmp_path: Path
) -> None:
    with subprocess.Popen(
        [*COMMAND, "run", "--provider", "local", "Count from one to one hundred in words."],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment(),
        cwd=tmp_path,
    ) as command:
        try:
            server = server_of(command)
            command.send_signal(number)
            _, said = command.communicate(timeout=LIMIT_S)
            server.wait(LIMIT_S)
        finally:
            command.kill()
    assert b"Traceback" not in said
    assert not server.is_running()
