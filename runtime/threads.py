"""Worker threads for code that must block: one owner, daemon, never joined without a bound.

A job that never ends costs its thread and nothing else: once nobody waits for it any more another
thread may take its place, and the process can still exit. The caller's context variables follow the
job, so the wait graph sees through it.
"""

from __future__ import annotations

import contextvars
import queue
import threading
import time
from collections.abc import Callable
from typing import Any

from runtime.loop import LoopThread
from runtime.reply import Reply


class _Job:
    """One call and where it stands: `waiting`, `running`, `given_up` (nobody waits any more), `done`."""

    __slots__ = ("_workers", "call", "reply", "state")

    def __init__(self, workers: WorkerThreads, call: Callable[[], Any]) -> None:
        self._workers = workers
        self.call = call
        self.reply: Reply[Any] = Reply(None, self)
        self.state = "waiting"

    def cancel_handler(self, reply: Reply[Any]) -> None:  # noqa: ARG002 - the seam's signature
        """Nobody wants the answer: let another thread take the place of the one that works on it."""
        self._workers.give_up(self)


class WorkerThreads:
    """At most `limit` threads, started on demand, that run jobs in the order they came.

    Results settle replies in the worker thread; awaiting one on the loop is safe. `close` ends the
    threads that are idle and lets busy ones end after the jobs that wait. A job that was given up does
    not count against the limit.
    """

    def __init__(self, loop_thread: LoopThread, *, limit: int, name: str) -> None:
        self._loop_thread = loop_thread
        self._limit = limit
        self._name = name
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._threads: set[threading.Thread] = set()
        self._made = 0
        self._pending = 0
        self._given_up = 0
        self._closed = False

    def submit(self, function: Callable[..., Any], *args: Any) -> Reply[Any]:
        """Run `function(*args)` on a worker; the reply has its result or its exception.

        Cancelling the reply drops a job that has not begun; one that runs goes on, given up.
        Raises RuntimeError after `close`.
        """
        context = contextvars.copy_context()
        job = _Job(self, lambda: context.run(function, *args))
        with self._lock:
            if self._closed:
                raise RuntimeError(f"worker threads {self._name!r} are closed")
            self._pending += 1
            try:
                self._start_thread_if_needed()
            except RuntimeError:  # the process has no thread to give
                if not self._threads:
                    self._pending -= 1
                    raise
            self._loop_thread.count_outside_work(1)
            self._jobs.put(job)
        return job.reply

    async def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Run `function(*args)` on a worker and await its result.

        Cancelling the await cancels the reply; see `submit`.
        """
        return await self.submit(function, *args)

    def give_up(self, job: _Job) -> None:
        """Nobody waits for this job any more; its own business."""
        with self._lock:
            if job.state == "running":
                job.state = "given_up"
                self._given_up += 1
                try:
                    self._start_thread_if_needed()
                except RuntimeError:
                    pass  # the process has no thread to give: what waits, waits for this one

    def close(self) -> None:
        """Take no more jobs; threads end after what they are doing."""
        with self._lock:
            if not self._closed:
                self._closed = True
                for _ in self._threads:
                    self._jobs.put(None)

    def join(self, timeout_s: float) -> list[str]:
        """Wait for the threads to end, after `close`; the names of those that did not in that time.

        If one did not, jobs that still wait for a thread are answered with RuntimeError.
        """
        deadline = time.monotonic() + timeout_s
        with self._lock:
            threads = list(self._threads)
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join(max(deadline - time.monotonic(), 0.0))
        left = [thread.name for thread in threads if thread.is_alive()]
        if left:
            self._drop_waiting()
        return left

    def _drop_waiting(self) -> None:
        dropped: list[_Job | None] = []
        while True:
            try:
                dropped.append(self._jobs.get_nowait())
            except queue.Empty:
                break
        for job in dropped:
            if job is None:
                self._jobs.put(None)
            else:
                closed = RuntimeError(
                    f"worker threads {self._name!r} are closed; no thread was free"
                )
                self._finished(job, None, closed)

    def _start_thread_if_needed(self) -> None:
        useful = len(self._threads) - self._given_up
        wanted = self._pending - self._given_up
        if wanted > useful and useful < self._limit and not self._closed:
            name = f"greenroom-{self._name}-{self._made}"
            self._made += 1
            thread = threading.Thread(target=self._work, name=name, daemon=True)
            thread.start()
            self._threads.add(thread)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            self._do(job)
            del job
        with self._lock:
            self._threads.discard(threading.current_thread())

    def _do(self, job: _Job) -> None:
        with self._lock:
            job.state = "running"
        value: Any = None
        error: BaseException | None = None
        if not job.reply.done():
            try:
                value = job.call()
            except BaseException as raised:  # noqa: BLE001 - it is the reply's outcome
                error = raised
        self._finished(job, value, error)

    def _finished(self, job: _Job, value: Any, error: BaseException | None) -> None:
        with self._lock:
            self._pending -= 1
            if job.state == "given_up":
                self._given_up -= 1
            job.state = "done"
        job.reply.settle(value, error)
        # Last: virtual time stands until the loop knows the result.
        self._loop_thread.count_outside_work(-1)
