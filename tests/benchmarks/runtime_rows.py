"""greenroom's own actors, measured exactly as the floors are: same work, same figures.

Supervised figures have no floor: neither a bare run queue nor pykka has supervisors.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Any

from runtime import Actor, ActorRef, ActorSystem, ChildSpec, Supervisor, SupervisorRef
from tests.benchmarks.harness import Bench, Figures, Scale
from tests.benchmarks.measures import (
    FAN,
    LIMIT_S,
    RING,
    idle_kib,
    percentiles,
    quiet,
    resident_bytes,
)

BOOM = "boom"
WITHOUT_LIMIT = 1_000_000_000  # restarts a supervisor of these benches allows

Refs = list[ActorRef[Any]]


class Echo(Actor):
    """Answers with what it was asked; fails on BOOM."""

    def on_receive(self, message: Any) -> Any:
        if message == BOOM:
            raise ValueError(message)
        return message


class Counter(Actor):
    """Calls `done` at every `limit`th message."""

    def __init__(self, limit: int, done: Callable[[], object]) -> None:
        super().__init__()
        self.limit = limit
        self.done = done
        self.seen = 0

    def on_receive(self, message: Any) -> None:
        self.seen += 1
        if self.seen == self.limit:
            self.seen = 0
            self.done()


class Caller(Actor):
    """Runs a function with its message, as work between actors; the function may be async."""

    def __init__(self, work: Callable[[Any], Any]) -> None:
        super().__init__()
        self.work = work

    def on_receive(self, message: Any) -> Any:
        return self.work(message)


class Starter(Actor):
    """Starts children of a supervisor, each after the one before has started."""

    def __init__(self, supervisor: SupervisorRef) -> None:
        super().__init__()
        self.supervisor = supervisor

    async def on_receive(self, message: int) -> int:
        spec = ChildSpec(Echo, restart="temporary")
        for _ in range(message):
            await self.supervisor.astart_child(spec)
        return message


def wait_for(done: threading.Event) -> None:
    """Wait for an event of an actor, with a bound."""
    if not done.wait(LIMIT_S):
        raise TimeoutError("greenroom did not get there in time")
    done.clear()


def spawn_and_stop(system: ActorSystem, scale: Scale) -> Figures:
    """Start actors under the root until the last one answers; stop each, then wait for all."""
    start = perf_counter()
    refs = [system.spawn(Echo) for _ in range(scale.actors)]
    refs[-1].ask(None, timeout=LIMIT_S)
    made = perf_counter()
    for stopped in [ref.stop(block=False) for ref in refs]:
        stopped.get(timeout=LIMIT_S)
    return {
        "spawn": scale.actors / (made - start),
        "stop": (perf_counter() - made) / scale.actors * 1e6,
    }


def start_child(system: ActorSystem, scale: Scale) -> Figures:
    """An actor starts children of a supervisor, awaiting each."""
    supervisor = system.spawn(Supervisor)
    starter = system.spawn(Starter, supervisor)
    start = perf_counter()
    starter.ask(scale.actors, timeout=LIMIT_S)
    return {"start_child": scale.actors / (perf_counter() - start)}


def idle(system: ActorSystem, scale: Scale) -> Figures:
    """The bytes of an idle actor that has started, its ref held."""

    def make(count: int) -> Refs:
        refs: Refs = [system.spawn(Echo) for _ in range(count)]
        refs[-1].ask(None, timeout=LIMIT_S)
        return refs

    return idle_kib(make, scale.actors)


def crowd(system: ActorSystem, scale: Scale) -> Figures:
    """Start a crowd under one supervisor, stop the supervisor, see what memory is left taken.

    Resident memory holds what the allocator keeps for later as well; live blocks are what a leak shows in.
    """
    _start_and_stop_crowd(system, 1_000)  # what is made once is there before the start
    resident, blocks = resident_bytes(), sys.getallocatedblocks()
    spawn_s, stop_s = _start_and_stop_crowd(system, scale.crowd)
    return {
        "spawn_supervised": scale.crowd / spawn_s,
        "stop_supervised": stop_s,
        "memory_back": (resident_bytes() - resident) / resident * 100,
        "blocks_left": (sys.getallocatedblocks() - blocks) / scale.crowd,
    }


def _start_and_stop_crowd(system: ActorSystem, count: int) -> tuple[float, float]:
    """The seconds of starting until the last one answers, and of stopping the supervisor."""
    supervisor = system.spawn(Supervisor)
    start = perf_counter()
    for _ in range(count - 1):
        system.spawn(Echo, supervisor=supervisor)
    system.spawn(Echo, supervisor=supervisor).ask(None, timeout=LIMIT_S)
    made = perf_counter()
    supervisor.stop(timeout=LIMIT_S)
    stopped = perf_counter()
    gc.collect()
    return made - start, stopped - made


def tell_and_ask_from_thread(system: ActorSystem, scale: Scale) -> Figures:
    """Tell and ask from a thread that is not the loop's."""
    done = threading.Event()
    counter = system.spawn(Counter, scale.messages, done.set)
    start = perf_counter()
    for number in range(scale.messages):
        counter.tell(number)
    wait_for(done)
    rate = scale.messages / (perf_counter() - start)
    echo = system.spawn(Echo)
    seconds = []
    for number in range(scale.asks):
        start = perf_counter()
        echo.ask(number, timeout=LIMIT_S)
        seconds.append(perf_counter() - start)
    return {"tell_thread": rate, **percentiles("ask_thread", seconds)}


def tell_between(system: ActorSystem, scale: Scale) -> Figures:
    """One actor tells another many times."""
    done = threading.Event()
    counter = system.spawn(Counter, scale.messages, done.set)

    def send_all(_message: Any) -> None:
        for number in range(scale.messages):
            counter.tell(number)

    caller = system.spawn(Caller, send_all)
    start = perf_counter()
    caller.tell(None)
    wait_for(done)
    return {"tell_actor": scale.messages / (perf_counter() - start)}


def ask_between(system: ActorSystem, scale: Scale) -> Figures:
    """One actor asks another many times."""
    echo = system.spawn(Echo)

    async def ask_all(_message: Any) -> list[float]:
        seconds = []
        for number in range(scale.asks):
            start = perf_counter()
            await echo.ask(number, block=False)
            seconds.append(perf_counter() - start)
        return seconds

    return percentiles("ask_actor", system.spawn(Caller, ask_all).ask(None, timeout=LIMIT_S))


def ring(system: ActorSystem, scale: Scale) -> Figures:
    """A token goes round."""
    done = threading.Event()
    refs: Refs = []

    def member(index: int) -> Callable[[int], None]:
        def handle(hops_left: int) -> None:
            if hops_left:
                refs[(index + 1) % RING].tell(hops_left - 1)
            else:
                done.set()

        return handle

    refs.extend(system.spawn(Caller, member(index)) for index in range(RING))
    start = perf_counter()
    refs[0].tell(scale.hops)
    wait_for(done)
    return {"ring": (perf_counter() - start) / scale.hops * 1e6}


def fan(system: ActorSystem, scale: Scale) -> Figures:
    """An actor tells many, and each tells one."""
    done = threading.Event()
    collector = system.spawn(Counter, FAN, done.set)
    workers = [system.spawn(Caller, collector.tell) for _ in range(FAN)]
    leader = system.spawn(Caller, lambda _message: tell_all(workers))
    start = perf_counter()
    for _ in range(scale.fans):
        leader.tell(None)
        wait_for(done)
    return {"fan": (perf_counter() - start) / scale.fans * 1e3}


def tell_all(refs: Iterable[ActorRef[Any]]) -> None:
    """Send one message to each."""
    for ref in refs:
        ref.tell(1)


def restart(system: ActorSystem, scale: Scale) -> Figures:
    """A child fails, its supervisor makes a new instance, and that answers."""
    spec = ChildSpec(Echo, name="frail", restart="permanent")
    supervisor = system.spawn(Supervisor, [spec], max_restarts=WITHOUT_LIMIT, window=LIMIT_S)
    (frail,) = (child.ref for child in supervisor.which_children())

    async def fail_all(_message: Any) -> float:
        start = perf_counter()
        for number in range(scale.restarts):
            frail.tell(BOOM)
            await frail.ask(number, block=False)
        return perf_counter() - start

    seconds: float = system.spawn(Caller, fail_all).ask(None, timeout=LIMIT_S)
    return {"restart": seconds / scale.restarts * 1e6}


KINDS: dict[str, Callable[[ActorSystem, Scale], Figures]] = {
    "spawn": spawn_and_stop,
    "start_child": start_child,
    "idle": idle,
    "crowd": crowd,
    "thread": tell_and_ask_from_thread,
    "tell": tell_between,
    "ask": ask_between,
    "ring": ring,
    "fan": fan,
    "restart": restart,
}


def benches(subject: str, *, uvloop: bool) -> list[Bench]:
    """All measurements of greenroom on one kind of loop."""

    def bound(measure: Callable[[ActorSystem, Scale], Figures]) -> Callable[[Scale], Figures]:
        def run(scale: Scale) -> Figures:
            with quiet("greenroom"), ActorSystem(uvloop=uvloop) as system:
                return measure(system, scale)

        return run

    return [
        Bench(kind, subject, bound(measure), isolated=kind in ("idle", "crowd"))
        for kind, measure in KINDS.items()
    ]
