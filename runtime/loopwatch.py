"""Watches for handlers that hold the loop, so that one blocking call does not silently stop every actor.

A small thread sends the loop a heartbeat; if it is not answered within the threshold, the loop's stack is
taken and published as `LoopBlocked` and logged, once per blockage.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
import traceback
from types import FrameType
from typing import Any

from runtime.errors import SystemEnded
from runtime.events import EventStream, LoopBlocked, log
from runtime.loop import LoopThread


class LoopWatch:
    """One thread beside a loop thread. `close` ends it."""

    def __init__(
        self,
        loop_thread: LoopThread,
        events: EventStream,
        registry: Any,
        *,
        name: str,
        threshold_s: float,
    ) -> None:
        self._loop_thread = loop_thread
        self._events = events
        self._registry = registry
        self._name = name
        self._threshold_s = threshold_s
        self._closing = threading.Event()
        self._thread = threading.Thread(
            target=self._watch, name=f"greenroom-{name}-watch", daemon=True
        )

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    def close(self) -> None:
        """End the thread; safe to call twice."""
        self._closing.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(1.0)

    def _watch(self) -> None:
        loop = self._loop_thread.loop
        while not self._closing.wait(self._threshold_s):
            beat = threading.Event()
            try:
                loop.call_soon_threadsafe(beat.set)
            except RuntimeError:
                return  # the loop is closed: nothing left to watch
            sent = time.monotonic()
            if not beat.wait(self._threshold_s) and not loop.is_closed():
                self._report(time.monotonic() - sent)
                while not (beat.wait(0.05) or self._closing.is_set() or loop.is_closed()):
                    pass

    def _report(self, held_s: float) -> None:
        frame = sys._current_frames().get(self._loop_thread.ident)
        stack = "".join(traceback.format_stack(frame)[-12:]) if frame is not None else ""
        cell = self._culprit()
        path = "?" if cell is None else cell.path
        message = (
            _message_of(frame) if cell is None or cell.current is None else cell.current.message
        )
        kind = "?" if message is None else type(message).__name__
        event = LoopBlocked(path, kind, held_s, stack)
        log.warning(
            "loop_blocked",
            system=self._name,
            actor=path,
            message=kind,
            held_s=round(held_s, 3),
            stack=stack,
        )
        if self._events.wants(LoopBlocked):
            try:
                self._loop_thread.post(self._events.publish, event)
            except SystemEnded:
                pass  # nobody listens any more

    def _culprit(self) -> Any:
        """The cell whose code holds the loop: in its slice, or as the running task."""
        cell = self._loop_thread.running_now
        if cell is not None:
            return cell
        task = asyncio.current_task(self._loop_thread.loop)
        return next((c for c in self._registry.cells() if c.busy is task), None) if task else None


def _message_of(frame: FrameType | None) -> Any:
    """The message a plain handler on this stack was called with, or None: the cell does not note it."""
    while frame is not None:
        code = frame.f_code
        if code.co_name == "_handle" and frame.f_globals.get("__name__") == "runtime.onloop":
            return frame.f_locals.get("message")
        frame = frame.f_back
    return None
