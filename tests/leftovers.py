"""What a test left behind: threads, child processes, asyncio tasks, open descriptors, lost errors.

For `conftest.py`, which takes a snapshot before each test and asks `leftovers` after it. What was there
before a test is not of its making: that is how fixtures of a wider scope and pytest itself are exempt.
Beyond that only what `exempt_thread` and `exempt_child` name is let through, each with its reason; a
single test that must leave something says so with `@pytest.mark.leaves("why")`.

Promises: waits for the fact, at most `PATIENCE_S`, and not at all when nothing is left; costs well under
two milliseconds when the garbage collector has frozen what was there before (see `conftest.py`).
"""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PATIENCE_S = 3.0
_POLL_S = 0.002

_LOST_ERRORS = (
    "Task was destroyed but it is pending",
    "Task exception was never retrieved",
    "Future exception was never retrieved",
    "Unclosed c",  # aiohttp: "Unclosed client session", "Unclosed connection", "Unclosed connector"
)

_STABLE_TARGETS = ("/dev/null", "/dev/urandom", "/dev/tty")


@dataclass(frozen=True)
class Snapshot:
    """What a process has at one moment."""

    threads: frozenset[threading.Thread]
    children: frozenset[int]
    tasks: frozenset[asyncio.Task[Any]]
    descriptors: Counter[str] = field(hash=False)


def take_snapshot() -> Snapshot:
    """What is there now."""
    return Snapshot(
        threads=frozenset(threading.enumerate()),
        children=frozenset(child_pids()),
        tasks=frozenset(pending_tasks()),
        descriptors=open_descriptors(),
    )


def leftovers(before: Snapshot, patience_s: float = PATIENCE_S) -> list[str]:
    """What is there now and was not `before`, one line each; waits for it to go, with a bound."""
    deadline = time.monotonic() + patience_s
    while True:
        gc.collect()
        found = list(_new_since(before))
        if not found or time.monotonic() > deadline:
            return found
        time.sleep(_POLL_S)


def _new_since(before: Snapshot) -> Iterator[str]:
    for thread in threading.enumerate():
        if thread not in before.threads and not exempt_thread(thread):
            yield f"thread {thread.name!r} still runs"
    for pid in child_pids():
        if pid not in before.children and not exempt_child(pid):
            yield f"child process {pid} still there: {_command_of(pid) or 'ended, but not waited for'}"
    for task in pending_tasks():
        if task not in before.tasks:
            yield f"asyncio task {task!r} is pending"
    for target, count in (open_descriptors() - before.descriptors).items():
        yield f"descriptor to {target} is open" + (f" ({count} times)" if count > 1 else "")


def exempt_thread(thread: threading.Thread) -> bool:
    """Whether a thread may outlive a test: only those the interpreter and pytest start and own."""
    return isinstance(thread, threading._DummyThread)  # a foreign thread that once touched Python


def exempt_child(pid: int) -> bool:
    """Whether a child may outlive a test: multiprocessing keeps one tracker per process for ever."""
    return "multiprocessing.resource_tracker" in _command_of(pid)


def child_pids() -> list[int]:
    """Our children, zombies included; read from /proc because that takes microseconds."""
    pids: list[int] = []
    for thread in Path("/proc/self/task").iterdir():
        try:
            text = (thread / "children").read_text(encoding="ascii")
        except (FileNotFoundError, ProcessLookupError):
            continue  # the thread ended between the two calls
        pids.extend(int(pid) for pid in text.split())
    return pids


def _command_of(pid: int) -> str:
    try:
        raw = Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    return raw.replace(b"\0", b" ").decode(errors="replace").strip()


def pending_tasks() -> list[asyncio.Task[Any]]:
    """Tasks of any loop, open or closed, that have not ended.

    `asyncio.all_tasks` wants a loop, and the loops to ask for are the ones somebody forgot; so this reads
    asyncio's own list, whose name changed in Python 3.12.
    """
    known = getattr(asyncio.tasks, "_scheduled_tasks", None)
    if known is None:
        known = getattr(asyncio.tasks, "_all_tasks")  # noqa: B009  unknown to the type checker
    return [task for task in _as_list(known) if not task.done()]


def _as_list(tasks: Any) -> list[asyncio.Task[Any]]:
    while True:
        try:
            return list(tasks)
        except RuntimeError:  # another thread made a task meanwhile
            continue


def open_descriptors() -> Counter[str]:
    """How often each target is open, without those that libraries open once and keep."""
    targets: Counter[str] = Counter()
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            target = str(descriptor.readlink())
        except OSError:
            continue  # the descriptor of the listing itself
        if target not in _STABLE_TARGETS:
            targets[target] += 1
    return targets


class LostErrors(logging.Handler):
    """Collects what asyncio and aiohttp only log: errors that nobody was there to take."""

    def __init__(self) -> None:
        super().__init__(level=logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the record if it is about something lost."""
        text = record.getMessage()
        if text.startswith(_LOST_ERRORS):
            self.lines.append(text)

    def take(self) -> list[str]:
        """What came since the last call."""
        lines, self.lines = self.lines, []
        return lines
