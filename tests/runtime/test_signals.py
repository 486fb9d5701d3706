"""Daemons: SIGTERM and SIGINT stop the tree in order, a second one at once."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from typing import Any

import pytest

from runtime import ActorSystem, MisuseError
from tests.runtime.players import LIMIT_S, in_thread

PRELUDE = """
import asyncio, signal, sys, threading
from runtime import Actor, ActorSystem, SystemEnded

class Noted(Actor):
    def __init__(self, name):
        super().__init__()
        self.name = name
    def on_start(self):
        print("start", self.name, flush=True)
    def on_stop(self):
        print("stop", self.name, flush=True)

class Slow(Noted):
    async def on_stop(self):
        print("stopping", self.name, flush=True)
        await asyncio.sleep(3600)

class Fails(Noted):
    def on_receive(self, message):
        raise ValueError(message)
"""


class Daemon:
    """A program in a process of its own, read line by line."""

    def __init__(self, program: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", PRELUDE + textwrap.dedent(program)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def expect(self, *lines: str) -> None:
        """Read these lines."""
        assert self.process.stdout is not None
        for line in lines:
            assert self.process.stdout.readline().strip() == line

    def end(self) -> tuple[int, str]:
        """Wait for the end: the exit status and what was left to read."""
        out, err = self.process.communicate(timeout=LIMIT_S)
        return self.process.returncode, out + err

    def __enter__(self) -> Daemon:
        return self

    def __exit__(self, *_: Any) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


SERVE = """
with ActorSystem("daemon") as system:
    system.spawn(Noted, "a")
    system.spawn({kind}, "b")
    system.run_until_signal()
    print("ended", system.ended, signal.getsignal(signal.SIGTERM) == signal.SIG_DFL, flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_the_tree_in_order(number: int) -> None:
    with Daemon(SERVE.format(kind="Noted")) as daemon:
        daemon.expect("start a", "start b")
        daemon.process.send_signal(number)
        daemon.expect("stop b", "stop a", "ended True True")
        assert daemon.end() == (0, "")


def test_a_second_signal_stops_at_once() -> None:
    with Daemon(SERVE.format(kind="Slow")) as daemon:
        daemon.expect("start a", "start b")
        daemon.process.send_signal(signal.SIGTERM)
        daemon.expect(
            "stop a", "stopping b"
        )  # told together, in reverse; a has nothing to wait for
        daemon.process.send_signal(signal.SIGINT)
        daemon.expect("ended True True")
        status, rest = daemon.end()
        assert status == 0
        assert "abandoned" in rest


def test_a_system_that_ends_by_itself_ends_the_wait() -> None:
    program = """
    with ActorSystem("daemon") as system:
        system.spawn(Noted, "a")
        threading.Timer(0.05, system.request_shutdown).start()
        system.run_until_signal()
        print("ended", flush=True)
    """
    with Daemon(program) as daemon:
        daemon.expect("start a", "stop a", "ended")
        assert daemon.end()[0] == 0


def test_a_system_that_fails_while_serving_raises() -> None:
    program = """
    system = ActorSystem("daemon", max_restarts=0)
    system.spawn(Fails, "a", restart="permanent").tell("x")
    try:
        system.run_until_signal()
    except SystemEnded as error:
        print("failed", type(error.__cause__).__name__, flush=True)
    """
    with Daemon(program) as daemon:
        daemon.expect("start a", "failed RestartsExceeded")
        assert daemon.end()[0] == 0


def test_an_interpreter_that_exits_stops_the_default_system() -> None:
    program = """
    Noted.start("a").ask("x", timeout=20)
    """
    with Daemon(program) as daemon:
        daemon.expect("start a", "stop a")
        assert daemon.end()[0] == 0


def test_an_interpreter_with_a_system_nobody_stopped_exits_all_the_same() -> None:
    program = """
    system = ActorSystem("forgotten")
    system.spawn(Noted, "a").ask("x", timeout=20)
    """
    with Daemon(program) as daemon:
        daemon.expect("start a")
        assert daemon.end()[0] == 0


def test_serving_outside_the_main_thread_is_refused(system: ActorSystem) -> None:
    with pytest.raises(MisuseError, match="main thread"):
        in_thread(system.run_until_signal).get(timeout=LIMIT_S)


def test_earlier_signal_handlers_are_put_back(system: ActorSystem) -> None:
    def own(*_: Any) -> None:
        raise AssertionError("not called")

    before = signal.signal(signal.SIGTERM, own)
    try:
        system.request_shutdown()
        system.run_until_signal()
        assert signal.getsignal(signal.SIGTERM) is own
    finally:
        signal.signal(signal.SIGTERM, before)
