"""SIGTERM ends the command in order, wherever it is."""

from __future__ import annotations

import os
import signal
import subprocess
import termios
import threading

import pytest

from actors.cli.termination import Terminated, terminable
from actors.testing.model_server import ScriptedModelServer
from actors.testing.replies import Failure
from tests.actors.cli.program import COMMAND, environment


def started(arguments: list[str], terminal: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*COMMAND, *arguments], stdin=terminal, stdout=terminal, stderr=terminal, env=environment()
    )


def test_a_terminal_is_as_it_was_after_a_chat_was_terminated_at_its_prompt() -> None:
    master, slave = os.openpty()
    before = termios.tcgetattr(slave)
    process = started(["chat", "--base-url", "http://127.0.0.1:9/v1", "--model", "m"], slave)
    try:
        seen = b""
        while b"> " not in seen:
            seen += os.read(master, 4096)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 143
        assert termios.tcgetattr(slave) == before
    finally:
        process.kill()
        process.wait()
        os.close(slave)
        os.close(master)


def test_a_running_turn_is_ended_with_143() -> None:
    with ScriptedModelServer([Failure("silent")]) as server:
        options = ["--base-url", server.base_url, "--model", "m"]
        process = subprocess.Popen(
            [*COMMAND, "run", "why?", *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment(),
        )
        server.wait_until(lambda it: len(it.chats) == 1)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=30)
        server.wait_until(lambda it: it.hangups == 1)
    assert process.returncode == 143
    assert said == b"greenroom: terminated\n"


def test_within_the_block_the_signal_is_raised_and_afterwards_the_old_handler_is_back() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(Terminated), terminable():
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is before


def test_an_ignored_signal_stays_ignored() -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with terminable():
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)


def test_in_another_thread_nothing_changes() -> None:
    found = []

    def look() -> None:
        with terminable():
            found.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [signal.getsignal(signal.SIGTERM)]
