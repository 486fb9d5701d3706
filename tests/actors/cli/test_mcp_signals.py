"""Ctrl-C and SIGTERM while a tool runs: the server is told, and ended with all it has started."""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from actors.mcp.process_group import group_runs
from tests.actors.cli.program import COMMAND, environment

PROGRAM = """
import os, subprocess, sys
sys.path[0] = {servers!r}
from servers.peer import Peer

class Tells(Peer):
    # Says in files of its directory what happens to it.
    def note(self, name, text):
        with open(os.path.join({here!r}, name + ".new"), "w") as file:
            file.write(text)
        os.rename(file.name, file.name[:-4])

    def tool_sleep(self, arguments, meta):
        subprocess.Popen(["sleep", "600"])
        self.note("called", str(os.getpid()))
        return super().tool_sleep(arguments, meta)

    def notified(self, method, params):
        if method == "notifications/cancelled":
            self.note("cancelled", str(params["requestId"]))

Tells().run()
"""


def until(fact: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not fact():
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [
        (signal.SIGINT, 130, "greenroom: interrupted\n"),
        (signal.SIGTERM, 143, "greenroom: terminated\n"),
    ],
)
def test_a_call_is_cancelled_at_the_server_and_nothing_is_left(
    number: signal.Signals, code: int, said: str, tmp_path: Path
) -> None:
    program = tmp_path / "tells.py"
    servers = Path(__file__).parents[1] / "mcp"
    program.write_text(PROGRAM.format(servers=str(servers), here=str(tmp_path)), encoding="utf-8")
    server = shlex.join([sys.executable, "-S", "-E", str(program)])
    process = subprocess.Popen(
        [*COMMAND, "mcp", "call", "sleep", '{"n": 600}', "--command", server],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=environment(),
    )
    try:
        until((tmp_path / "called").exists)
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
        process.communicate()
    assert (process.returncode, out, err) == (code, "", said)
    assert (tmp_path / "cancelled").exists()
    assert not group_runs(int((tmp_path / "called").read_text(encoding="utf-8")))


def test_a_server_that_is_not_ready_is_ended_by_ctrl_c(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    script = f"echo $$ > {pid_file}.new; mv {pid_file}.new {pid_file}; exec sleep 600"
    process = subprocess.Popen(
        [*COMMAND, "mcp", "tools", "--command", shlex.join(["sh", "-c", script])],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=environment(),
    )
    try:
        until(pid_file.exists)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    finally:
        process.kill()
        process.communicate()
    assert (process.returncode, err) == (130, "greenroom: interrupted\n")
    assert not group_runs(int(pid_file.read_text(encoding="utf-8")))
