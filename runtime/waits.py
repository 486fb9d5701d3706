"""The wait graph: who waits for whom, so that a ring of asks is refused instead of hanging.

An `Activity` is a line of work that can wait: an actor handling its messages, or one background task
of it. `CURRENT` tells which activity the running code belongs to; being a context variable it follows
the work into tasks and worker threads. Before an activity waits for a reply the graph is walked from
the activity that will answer it; reaching the waiter means a ring. A graph sees what a chain carried
in the message cannot: two actors that ask each other at the same moment.

Checking and entering are one step under a lock, so of two waits that close a ring exactly one is
refused, in any order of arrival. A reply that is answered by other replies (`follow`, `map`, `join`)
stands in the graph as a node without a path that waits for them, so the walk goes through it. Threads and plain pykka actors have no identity and are never part
of a ring; give their asks a timeout.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import Protocol

from runtime.errors import AskCycle


class Awaited(Protocol):
    """Something that will be answered by an activity (a reply)."""

    target: Activity | None
    """The activity that answers it, if it is known."""


class Activity(Protocol):
    """A line of work that may wait for others: a cell, or background work of one."""

    awaiting: list[Awaited] | None

    @property
    def path(self) -> str:
        """How the activity is shown in a ring; empty: not at all."""


CURRENT: ContextVar[Activity | None] = ContextVar("greenroom_activity", default=None)

_lock = threading.RLock()
"""Re-entrant, since a collection while it is held may close a coroutine that waited."""


def _fresh_lock() -> None:
    global _lock  # noqa: PLW0603 - in a forked child the thread that held it is gone
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_fresh_lock)


def enter_wait(waiter: Activity, awaited: Awaited, *, bounded: bool = False) -> None:
    """Record that `waiter` waits for `awaited`.

    A `bounded` wait, a supervisor's for the end of a child, is never refused: it comes to its end. It does
    refuse the child that then asks its supervisor.

    Raises:
        AskCycle: the wait would close a ring. Nothing is recorded then.
    """
    with _lock:
        target = awaited.target
        if not bounded and target is not None and (target is waiter or target.awaiting):
            _refuse_ring(waiter.path, _walk(target, lambda node: node is waiter))
        if waiter.awaiting is None:
            waiter.awaiting = [awaited]
        else:
            waiter.awaiting.append(awaited)


def leave_wait(waiter: Activity, awaited: Awaited) -> None:
    """Forget a wait recorded by `enter_wait`."""
    with _lock:
        if waiter.awaiting is not None and awaited in waiter.awaiting:
            waiter.awaiting.remove(awaited)
            if not waiter.awaiting:
                waiter.awaiting = None


def check_wait(waiter: Activity, target: Activity) -> None:
    """Raises AskCycle if `target` waits for `waiter` now; nothing is recorded."""
    with _lock:
        _refuse_ring(waiter.path, _walk(target, lambda node: node is waiter))


def answer_through(awaited: Awaited, source: Activity) -> None:
    """Record that `awaited` will be answered by `source` from now on.

    Raises:
        AskCycle: `source` waits for who waits for `awaited`. Nothing is recorded then.
    """
    with _lock:
        path = _walk(source, lambda node: node.awaiting is not None and awaited in node.awaiting)
        if path:
            _refuse_ring(path[-1], path)
        awaited.target = source


def _refuse_ring(first: str, rest: list[str] | None) -> None:
    if rest is not None:
        raise AskCycle([path for path in (first, *rest) if path])


def _walk(start: Activity, is_end: Callable[[Activity], bool]) -> list[str] | None:
    """The paths from `start` to the end along current waits, or None. Depth first, each node once."""
    parents: dict[Activity, Activity | None] = {start: None}
    stack = [start]
    while stack:
        node = stack.pop()
        if is_end(node):
            return _path_to(node, parents)
        for awaited in list(node.awaiting or ()):
            follower = awaited.target
            if follower is not None and follower not in parents:
                parents[follower] = node
                stack.append(follower)
    return None


def _path_to(node: Activity, parents: dict[Activity, Activity | None]) -> list[str]:
    path: list[str] = []
    step: Activity | None = node
    while step is not None:
        path.append(step.path)
        step = parents[step]
    return path[::-1]


class _ThreadState(threading.local):
    """Which system's loop runs on this thread, if any."""

    loop_thread: object | None = None


thread_state = _ThreadState()


def on_loop_thread() -> bool:
    """Whether the calling thread runs a system's actors, so that blocking it would stop them."""
    return thread_state.loop_thread is not None
