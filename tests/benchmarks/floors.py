"""The floor: the least an actor on an event loop can cost, with nothing of what makes it useful.

A cell is a deque and a flag; ready cells wait in one deque that one loop callback drains, at most a fixed
number of messages per cell and turn. No supervision, no names, no closing, no wait graph, no errors but for
one `except`. What greenroom costs above this is the price of its promises.

It is as fair as greenroom: a slice per cell, and after a fixed number of messages the loop gets its turn for
I/O. A queue that gave the loop its turn after every round of ready cells would pay a loop iteration per hop of
a ring, some two microseconds on asyncio.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from time import perf_counter
from typing import Any

from tests.benchmarks.harness import Bench, Figures, Scale
from tests.benchmarks.measures import FAN, LIMIT_S, RING, idle_kib, percentiles

SLICE = 64  # messages of one cell, then the next cell
DRAIN = 1024  # messages of all cells, then the loop's own turn
BOOM = object()

Handler = Callable[[Any], Any]
NewLoop = Callable[[], asyncio.AbstractEventLoop]


class Cell:
    """A mailbox and who reads it."""

    __slots__ = ("box", "handler", "make", "ready")

    def __init__(self, make: Callable[[], Handler]) -> None:
        self.box: deque[Any] = deque()
        self.ready = False
        self.make = make
        self.handler = make()


class RunQueue:
    """All ready cells of a loop. Loop thread only, but for `put_from_thread`."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._ready: deque[Cell] = deque()
        self._armed = False

    def put(self, cell: Cell, message: Any) -> None:
        """Leave a message."""
        cell.box.append(message)
        if not cell.ready:
            cell.ready = True
            self._ready.append(cell)
            if not self._armed:
                self._armed = True
                self.loop.call_soon(self._drain)

    def put_from_thread(self, cell: Cell, message: Any) -> None:
        """Leave a message, from any thread."""
        self.loop.call_soon_threadsafe(self.put, cell, message)

    def ask(self, cell: Cell, message: Any) -> asyncio.Future[Any]:
        """Leave a message with a future the handler answers."""
        future = self.loop.create_future()
        self.put(cell, (message, future))
        return future

    def _drain(self) -> None:
        budget = DRAIN
        ready = self._ready
        while ready and budget > 0:
            cell = ready.popleft()
            box = cell.box
            slice_ = min(SLICE, len(box))
            budget -= slice_
            try:
                for _ in range(slice_):
                    cell.handler(box.popleft())
            except ValueError:
                cell.handler = cell.make()
            if box:
                ready.append(cell)
            else:
                cell.ready = False
        self._armed = bool(ready)
        if self._armed:
            self.loop.call_soon(self._drain)


@contextmanager
def open_loop(new_loop: NewLoop) -> Iterator[asyncio.AbstractEventLoop]:
    """A loop, closed afterwards."""
    loop = new_loop()
    try:
        yield loop
    finally:
        loop.close()


def answer(message: Any) -> None:
    """Answer an ask with its own message, or fail."""
    if message is BOOM:
        raise ValueError
    message[1].set_result(message[0])


def counting(limit: int, done: Callable[[], Any]) -> Callable[[], Handler]:
    """A handler that calls `done` at every `limit`th message."""

    def make() -> Handler:
        seen = 0

        def handle(_message: Any) -> None:
            nonlocal seen
            seen += 1
            if seen == limit:
                seen = 0
                done()

        return handle

    return make


def nothing(_message: Any) -> None:
    """Handle a message by doing nothing."""


def spawn_and_stop(new_loop: NewLoop, scale: Scale) -> Figures:
    """Make cells under names; forget them."""
    with open_loop(new_loop):
        start = perf_counter()
        cells = {f"cell-{number}": Cell(lambda: nothing) for number in range(scale.actors)}
        made = perf_counter()
        for cell in cells.values():
            cell.box.clear()
        cells.clear()
        return {
            "spawn": scale.actors / (made - start),
            "stop": (perf_counter() - made) / scale.actors * 1e6,
        }


def idle(_new_loop: NewLoop, scale: Scale) -> Figures:
    """The bytes of a cell and its deque."""
    return idle_kib(lambda count: [Cell(lambda: nothing) for _ in range(count)], scale.actors)


async def _tell_between(queue: RunQueue, scale: Scale) -> Figures:
    done = queue.loop.create_future()
    counter = Cell(counting(scale.messages, lambda: done.set_result(None)))

    def send_all(_message: Any) -> None:
        for number in range(scale.messages):
            queue.put(counter, number)

    start = perf_counter()
    queue.put(Cell(lambda: send_all), None)
    await done
    return {"tell_actor": scale.messages / (perf_counter() - start)}


async def _ask_between(queue: RunQueue, scale: Scale) -> Figures:
    cell = Cell(lambda: answer)
    seconds = []
    for number in range(scale.asks):
        start = perf_counter()
        await queue.ask(cell, number)
        seconds.append(perf_counter() - start)
    return percentiles("ask_actor", seconds)


async def _ring(queue: RunQueue, scale: Scale) -> Figures:
    done = queue.loop.create_future()
    cells: list[Cell] = []

    def member(index: int) -> Handler:
        def handle(hops_left: int) -> None:
            if hops_left:
                queue.put(cells[(index + 1) % RING], hops_left - 1)
            else:
                done.set_result(None)

        return handle

    cells.extend(Cell(lambda index=index: member(index)) for index in range(RING))  # type: ignore[misc]  # mypy#12557
    start = perf_counter()
    queue.put(cells[0], scale.hops)
    await done
    return {"ring": (perf_counter() - start) / scale.hops * 1e6}


async def _fan(queue: RunQueue, scale: Scale) -> Figures:
    done: list[asyncio.Future[None]] = []
    collector = Cell(counting(FAN, lambda: done.pop().set_result(None)))
    workers = [Cell(lambda: lambda message: queue.put(collector, message)) for _ in range(FAN)]
    start = perf_counter()
    for _ in range(scale.fans):
        future = queue.loop.create_future()
        done.append(future)
        for worker in workers:
            queue.put(worker, 1)
        await future
    return {"fan": (perf_counter() - start) / scale.fans * 1e3}


async def _restart(queue: RunQueue, scale: Scale) -> Figures:
    cell = Cell(lambda: answer)
    start = perf_counter()
    for number in range(scale.restarts):
        queue.put(cell, BOOM)
        await queue.ask(cell, number)
    return {"restart": (perf_counter() - start) / scale.restarts * 1e6}


def from_thread(new_loop: NewLoop, scale: Scale) -> Figures:
    """Tell and ask from a thread that is not the loop's."""
    with open_loop(new_loop) as loop:
        thread = threading.Thread(target=loop.run_forever)
        thread.start()
        try:
            queue = RunQueue(loop)
            return {**_tell_from_thread(queue, scale), **_ask_from_thread(queue, scale)}
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()


def _tell_from_thread(queue: RunQueue, scale: Scale) -> Figures:
    done = threading.Event()
    counter = Cell(counting(scale.messages, done.set))
    start = perf_counter()
    for number in range(scale.messages):
        queue.put_from_thread(counter, number)
    if not done.wait(LIMIT_S):
        raise TimeoutError("the run queue lost messages")
    return {"tell_thread": scale.messages / (perf_counter() - start)}


def _ask_from_thread(queue: RunQueue, scale: Scale) -> Figures:
    cell = Cell(lambda: answer)
    seconds = []
    for number in range(scale.asks):
        start = perf_counter()
        future: Future[int] = Future()
        queue.put_from_thread(cell, (number, future))
        future.result(LIMIT_S)
        seconds.append(perf_counter() - start)
    return percentiles("ask_thread", seconds)


def on_loop(
    measure: Callable[[RunQueue, Scale], Coroutine[Any, Any, Figures]],
) -> Callable[[NewLoop, Scale], Figures]:
    """A measurement that is a coroutine, run on a new loop."""

    def run(new_loop: NewLoop, scale: Scale) -> Figures:
        with open_loop(new_loop) as loop:
            return loop.run_until_complete(measure(RunQueue(loop), scale))

    return run


KINDS: dict[str, Callable[[NewLoop, Scale], Figures]] = {
    "spawn": spawn_and_stop,
    "idle": idle,
    "thread": from_thread,
    "tell": on_loop(_tell_between),
    "ask": on_loop(_ask_between),
    "ring": on_loop(_ring),
    "fan": on_loop(_fan),
    "restart": on_loop(_restart),
}


def benches(subject: str, new_loop: NewLoop) -> list[Bench]:
    """All measurements of the floor on one kind of loop."""

    def bound(measure: Callable[[NewLoop, Scale], Figures]) -> Callable[[Scale], Figures]:
        return lambda scale: measure(new_loop, scale)

    return [
        Bench(kind, subject, bound(measure), isolated=kind == "idle")
        for kind, measure in KINDS.items()
    ]
