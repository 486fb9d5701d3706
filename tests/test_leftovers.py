"""The check after every test sees what it is there to see, and only that."""

from __future__ import annotations

import asyncio
import logging
import socket
import subprocess
import sys
import threading
from pathlib import Path

from tests.leftovers import LostErrors, leftovers, take_snapshot

NO_PATIENCE_S = 0.0


def test_nothing_is_reported_when_nothing_is_left() -> None:
    assert leftovers(take_snapshot(), NO_PATIENCE_S) == []


def test_a_running_thread_is_reported_by_name() -> None:
    before = take_snapshot()
    leave = threading.Event()
    thread = threading.Thread(target=leave.wait, name="forgotten")
    thread.start()
    try:
        assert leftovers(before, NO_PATIENCE_S) == ["thread 'forgotten' still runs"]
    finally:
        leave.set()
        thread.join()


def test_a_thread_that_is_about_to_end_is_waited_for() -> None:
    before = take_snapshot()
    leave = threading.Event()
    thread = threading.Thread(target=leave.wait)
    thread.start()
    ender = threading.Thread(target=leave.set)
    ender.start()
    assert leftovers(before) == []
    thread.join()
    ender.join()


def test_an_open_socket_is_reported() -> None:
    before = take_snapshot()
    with socket.socket():
        (line,) = leftovers(before, NO_PATIENCE_S)
    assert line.startswith("descriptor to socket:[")


def test_a_file_opened_twice_is_counted_twice(tmp_path: Path) -> None:
    path = tmp_path / "twice"
    before = take_snapshot()
    with path.open("w", encoding="utf-8"), path.open(encoding="utf-8"):
        assert leftovers(before, NO_PATIENCE_S) == [f"descriptor to {path} is open (2 times)"]


def test_a_child_process_is_reported_until_it_is_waited_for() -> None:
    before = take_snapshot()
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        found = leftovers(before, NO_PATIENCE_S)
    finally:
        child.communicate(b"\n")
    assert any(line.startswith(f"child process {child.pid} still there:") for line in found)
    assert leftovers(before) == []


def test_a_pending_task_is_reported_even_when_its_loop_is_closed() -> None:
    before = take_snapshot()
    loop = asyncio.new_event_loop()
    task = loop.create_task(asyncio.sleep(0, "result"), name="forgotten")
    found = leftovers(before, NO_PATIENCE_S)
    assert any("asyncio task" in line and "forgotten" in line for line in found)
    loop.run_until_complete(task)
    loop.close()
    assert leftovers(before, NO_PATIENCE_S) == []


def test_what_was_there_before_is_not_reported() -> None:
    with socket.socket():
        assert leftovers(take_snapshot(), NO_PATIENCE_S) == []


def test_only_errors_about_something_lost_are_collected() -> None:
    lost = LostErrors()
    for text in ("Task exception was never retrieved\nfuture: ...", "something else"):
        lost.handle(logging.LogRecord("asyncio", logging.ERROR, __file__, 1, text, None, None))
    assert lost.take() == ["Task exception was never retrieved\nfuture: ..."]
    assert lost.take() == []
