"""Plain pykka threading actors, the interface greenroom keeps and the cost it leaves behind.

Each actor is a thread, so the counts are smaller, and what a thread costs in the kernel (its stack and
bookkeeping) is not in the resident bytes of the process.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import perf_counter
from typing import Any

import pykka

from tests.benchmarks.harness import Bench, Figures, Scale
from tests.benchmarks.measures import FAN, LIMIT_S, RING, idle_kib, percentiles, quiet

BOOM = "boom"


class Echo(pykka.ThreadingActor):
    """Answers with what it was asked; fails on BOOM."""

    def on_receive(self, message: Any) -> Any:
        if message == BOOM:
            raise ValueError(message)
        return message


class Counter(pykka.ThreadingActor):
    """Calls `done` at every `limit`th message."""

    def __init__(self, limit: int, done: Callable[[], object]) -> None:
        super().__init__()
        self.limit = limit
        self.done = done
        self.seen = 0

    def on_receive(self, _message: Any) -> None:
        self.seen += 1
        if self.seen == self.limit:
            self.seen = 0
            self.done()


class Caller(pykka.ThreadingActor):
    """Runs a function with its message, as work between actors."""

    def __init__(self, work: Callable[[Any], Any]) -> None:
        super().__init__()
        self.work = work

    def on_receive(self, message: Any) -> Any:
        return self.work(message)


def wait_for(done: threading.Event) -> None:
    """Wait for an event of an actor, with a bound."""
    if not done.wait(LIMIT_S):
        raise TimeoutError("pykka did not get there in time")
    done.clear()


def spawn_and_stop(scale: Scale) -> Figures:
    """Start actors, stop them all."""
    start = perf_counter()
    for _ in range(scale.threads):
        Echo.start()
    made = perf_counter()
    pykka.ActorRegistry.stop_all(timeout=LIMIT_S)
    return {
        "spawn": scale.threads / (made - start),
        "stop": (perf_counter() - made) / scale.threads * 1e6,
    }


def idle(scale: Scale) -> Figures:
    """The bytes of an idle actor."""
    return idle_kib(
        lambda count: [Echo.start() for _ in range(min(count, scale.threads))], scale.threads
    )


def tell_and_ask_from_thread(scale: Scale) -> Figures:
    """Tell and ask from a thread that is no actor."""
    done = threading.Event()
    counter = Counter.start(scale.messages, done.set)
    start = perf_counter()
    for number in range(scale.messages):
        counter.tell(number)
    wait_for(done)
    rate = scale.messages / (perf_counter() - start)
    return {
        "tell_thread": rate,
        **percentiles("ask_thread", _ask_seconds(Echo.start(), scale.asks)),
    }


def _ask_seconds(echo: pykka.ActorRef[Any], count: int) -> list[float]:
    seconds = []
    for number in range(count):
        start = perf_counter()
        echo.ask(number, timeout=LIMIT_S)
        seconds.append(perf_counter() - start)
    return seconds


def tell_between(scale: Scale) -> Figures:
    """One actor tells another many times."""
    done = threading.Event()
    counter = Counter.start(scale.messages, done.set)

    def send_all(_message: Any) -> None:
        for number in range(scale.messages):
            counter.tell(number)

    caller = Caller.start(send_all)
    start = perf_counter()
    caller.tell(None)
    wait_for(done)
    return {"tell_actor": scale.messages / (perf_counter() - start)}


def ask_between(scale: Scale) -> Figures:
    """One actor asks another many times."""
    echo = Echo.start()
    caller = Caller.start(lambda _message: _ask_seconds(echo, scale.asks))
    return percentiles("ask_actor", caller.ask(None, block=True, timeout=LIMIT_S))


def ring(scale: Scale) -> Figures:
    """A token goes round."""
    done = threading.Event()
    refs: list[pykka.ActorRef[Any]] = []

    def member(index: int) -> Callable[[int], None]:
        def handle(hops_left: int) -> None:
            if hops_left:
                refs[(index + 1) % RING].tell(hops_left - 1)
            else:
                done.set()

        return handle

    refs.extend(Caller.start(member(index)) for index in range(RING))
    start = perf_counter()
    refs[0].tell(scale.hops)
    wait_for(done)
    return {"ring": (perf_counter() - start) / scale.hops * 1e6}


def fan(scale: Scale) -> Figures:
    """One tells many, and each tells one."""
    done = threading.Event()
    collector = Counter.start(FAN, done.set)
    workers = [Caller.start(collector.tell) for _ in range(FAN)]
    start = perf_counter()
    for _ in range(scale.fans):
        for worker in workers:
            worker.tell(1)
        wait_for(done)
    return {"fan": (perf_counter() - start) / scale.fans * 1e3}


def restart(scale: Scale) -> Figures:
    """pykka has no restart: by hand, wait until the failed actor is gone and start another."""
    echo = Echo.start()
    start = perf_counter()
    for number in range(scale.restarts):
        echo.tell(BOOM)
        echo.actor_stopped.wait(LIMIT_S)
        echo = Echo.start()
        echo.ask(number, timeout=LIMIT_S)
    return {"restart": (perf_counter() - start) / scale.restarts * 1e6}


def clean(measure: Callable[[Scale], Figures]) -> Callable[[Scale], Figures]:
    """A measurement that leaves no actor, and whose failures on purpose are not logged."""

    def run(scale: Scale) -> Figures:
        with quiet("pykka"):
            try:
                return measure(scale)
            finally:
                pykka.ActorRegistry.stop_all(timeout=LIMIT_S)

    return run


KINDS: dict[str, Callable[[Scale], Figures]] = {
    "spawn": spawn_and_stop,
    "idle": idle,
    "thread": tell_and_ask_from_thread,
    "tell": tell_between,
    "ask": ask_between,
    "ring": ring,
    "fan": fan,
    "restart": restart,
}


def benches(subject: str) -> list[Bench]:
    """All measurements of pykka."""
    return [
        Bench(kind, subject, clean(measure), isolated=kind == "idle")
        for kind, measure in KINDS.items()
    ]
