"""The bounded end of a system: wait for the tree, give up on what does not end, and end the threads."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from typing import Any, Protocol

import pykka

from runtime.ending import abandon, answer_everyone
from runtime.errors import SystemEnded
from runtime.events import log
from runtime.loop import LoopThread
from runtime.registry import Registry
from runtime.reply import Reply
from runtime.threads import WorkerThreads
from runtime.virtual import VirtualTime

LOOP_HELD_S = 6.0
"""Seconds a handler may hold the loop at shutdown before it is given up."""

LOOP_END_S = 2.0
"""Seconds the loop thread, and all worker threads together, have to end once nothing is left to do."""


class Ends(Protocol):
    """What is needed of the system that ends."""

    name: str
    loop_thread: LoopThread
    registry: Registry
    virtual: VirtualTime | None

    def abandoned(self, path: str, doing: str) -> None:
        """Name what is left to itself."""


class Shutdown:
    """Waits for the end of one system's tree; `done` once it has ended or was given up."""

    def __init__(self, system: Ends) -> None:
        self._system = system
        self._down: Reply[Any] = Reply()
        self._finished = False

    @property
    def done(self) -> bool:
        """Whether the tree has ended."""
        return self._down.done()

    def wait(self, limit_s: float) -> bool:
        """Wait for the tree's end, but not for a loop that a handler holds beyond any child's bound."""
        virtual = self._system.virtual
        try:
            alive: Reply[None] = Reply(virtual=virtual)
            self._system.loop_thread.post(alive.set)
            alive.get(timeout=min(limit_s, LOOP_HELD_S))
            self._down.virtual = virtual
            self._down.get(timeout=limit_s)
        except pykka.Timeout:
            return False
        except SystemEnded:
            return self.wait_done(LOOP_END_S)
        return True

    def wait_done(self, seconds: float) -> bool:
        """Wait that long for the end; whether it came."""
        try:
            self._down.get(timeout=seconds)
        except pykka.Timeout:
            return False
        return True

    def stop_loop(self) -> None:
        """The tree has ended: take nothing more and stop the loop, on its thread."""
        self._refuse()
        self._down.settle()
        self._system.loop_thread.leave()

    def abandon_rest(self) -> None:
        """Give up on what did not stop: name it, answer whoever waits for it."""
        self._refuse()
        held = self._system.loop_thread.running_now
        if held is not None:
            self._system.abandoned(held.path, "holding the event loop")
        for cell in self._system.registry.cells():
            if cell.busy is not None and cell is not held and not cell.spec.actor.supervises:
                self._system.abandoned(cell.path, f"still {cell.state}")
            abandon(cell)
        self._down.settle()

    def forked(self) -> None:
        """In a forked child: the threads are not there, so nothing is to be waited for."""
        system = self._system
        system.loop_thread.end(
            f"the actor system {system.name!r} belongs to process {os.getppid()}, this is a fork of it; "
            "make a system after forking"
        )
        for cell in system.registry.cells():
            cell.scheduled = False
            answer_everyone(
                cell, f"actor {cell.path} lives in process {os.getppid()}, not in this fork"
            )
        self._down.settle()

    def finish(self, workers: Iterable[WorkerThreads]) -> None:
        """End the loop thread and the worker threads within their bounds; once."""
        if self._finished:
            return
        self._finished = True
        self._refuse()
        if not self._system.loop_thread.stop(LOOP_END_S):
            log.error("loop_thread_abandoned", system=self._system.name)
        groups = list(workers)
        for group in groups:
            group.close()
        deadline = time.monotonic() + LOOP_END_S
        for group in groups:
            for name in group.join(max(deadline - time.monotonic(), 0.0)):
                self._system.abandoned(f"thread {name}", "a job that did not end")

    def _refuse(self) -> None:
        self._system.loop_thread.end(
            f"the actor system {self._system.name!r} has shut down; make a new one"
        )
