"""Worker threads for code that must block: one owner, daemon, never joined without a bound.

A job that never ends costs its thread and nothing else: the pool starts another one in its place when
the owner abandons it, and the process can still exit. The caller's context variables follow the job,
so the wait graph sees through it.
"""

from __future__ import annotations

import contextvars
import queue
import threading
from collections.abc import Callable
from typing import Any

from runtime.loop import LoopThread
from runtime.reply import Reply

Job = Callable[[], Any]


class WorkerThreads:
    """At most `limit` threads, started on demand, that run jobs in the order they came.

    Results settle replies in the worker thread; awaiting one on the loop is safe. `close` ends the
    threads that are idle and lets busy ones end after their job.
    """

    def __init__(self, loop_thread: LoopThread, *, limit: int, name: str) -> None:
        self._loop_thread = loop_thread
        self._limit = limit
        self._name = name
        self._jobs: queue.SimpleQueue[tuple[Job, Reply[Any]] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._threads: set[threading.Thread] = set()
        self._pending = 0
        self._lost = 0
        self._closed = False

    def submit(self, function: Callable[..., Any], *args: Any) -> Reply[Any]:
        """Run `function(*args)` on a worker; the reply has its result or its exception.

        Raises RuntimeError after `close`.
        """
        context = contextvars.copy_context()
        reply: Reply[Any] = Reply()
        with self._lock:
            if self._closed:
                raise RuntimeError(f"worker threads {self._name!r} are closed")
            self._pending += 1
            self._loop_thread.outside_work += 1
            self._jobs.put((lambda: context.run(function, *args), reply))
            if self._pending > len(self._threads) - self._lost and self._room():
                self._start_thread()
        return reply

    async def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Run `function(*args)` on a worker and await its result.

        Cancelling the await leaves the function running; its result is dropped.
        """
        return await self.submit(function, *args)

    def abandon_one(self) -> None:
        """Give up on a job that does not end: another thread may take its place."""
        with self._lock:
            self._lost += 1
            if (
                self._pending > len(self._threads) - self._lost
                and self._room()
                and not self._closed
            ):
                self._start_thread()

    def found_one(self) -> None:
        """An abandoned job ended after all: its thread counts again."""
        with self._lock:
            self._lost -= 1

    def close(self) -> None:
        """Take no more jobs; threads end after what they are doing."""
        with self._lock:
            self._closed = True
            for _ in self._threads:
                self._jobs.put(None)

    def join(self, timeout_s: float) -> list[str]:
        """Wait for the threads to end; the names of those that did not."""
        with self._lock:
            threads = list(self._threads)
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join(timeout_s)
        return [thread.name for thread in threads if thread.is_alive()]

    def _room(self) -> bool:
        return len(self._threads) - self._lost < self._limit

    def _start_thread(self) -> None:
        name = f"greenroom-{self._name}-{len(self._threads)}"
        thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._threads.add(thread)
        thread.start()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            function, reply = job
            try:
                value, error = function(), None
            except BaseException as raised:  # noqa: BLE001 - it is the reply's outcome
                value, error = None, raised
            with self._lock:
                self._pending -= 1
                self._loop_thread.outside_work -= 1
            reply.settle(value, error)
            del function, reply, value, error, job
        with self._lock:
            self._threads.discard(threading.current_thread())
