"""The end of a system: in order, bounded, named, and everybody answered."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from runtime import (
    ActorAbandoned,
    ActorDeadError,
    ActorSystem,
    BlockingCallOnLoop,
    ChildSpec,
    MisuseError,
    Reply,
    Supervisor,
    SystemEnded,
)
from runtime.testing import VirtualSystem
from tests.runtime.players import (
    LIMIT_S,
    BlockingPlayer,
    Boom,
    Echo,
    Held,
    Noted,
    Player,
    fail,
    in_thread,
    until,
)


def test_a_system_stops_its_tree_in_order_users_before_services() -> None:
    notes: list[str] = []
    with ActorSystem("test") as system:
        system.ensure(Noted, "service", notes, name="service")
        for name in "ab":
            system.spawn(Noted, name, notes).ask(lambda _: None, timeout=LIMIT_S)
    assert notes == ["start service", "start a", "start b", "stop b", "stop a", "stop service"]


def test_shutting_down_twice_and_from_two_threads_is_shutting_down_once() -> None:
    notes: list[str] = []
    system = ActorSystem("test")
    system.spawn(Noted, "x", notes)
    both = [in_thread(system.shutdown) for _ in range(2)]
    for one in both:
        one.get(timeout=LIMIT_S)
    system.shutdown()
    assert notes == ["start x", "stop x"]
    assert system.ended


def test_shutdown_on_the_loop_is_refused_and_request_shutdown_is_not() -> None:
    with ActorSystem("test") as system:
        ref = system.spawn(Player)
        with pytest.raises(BlockingCallOnLoop, match="request_shutdown"):
            ref.ask(lambda self: self.system.shutdown(), timeout=LIMIT_S)
        ref.tell(lambda self: self.system.request_shutdown())
        until(lambda: system.ended)
        system.request_shutdown()


# -- used after the end ----------------------------------------------------------------------------


def test_everything_on_an_ended_system_raises_at_once() -> None:
    with ActorSystem("test") as system:
        ref, supervisor = system.spawn(Echo), system.spawn(Supervisor)
    with pytest.raises(SystemEnded, match="has shut down; make a new one"):
        system.spawn(Echo)
    with pytest.raises(SystemEnded):
        system.ensure(Echo, name="x")
    with pytest.raises(ActorDeadError):
        ref.tell(1)
    with pytest.raises(ActorDeadError):
        ref.ask(1, timeout=LIMIT_S)
    with pytest.raises(ActorDeadError):
        supervisor.start_child(ChildSpec(Echo), timeout=LIMIT_S)
    assert ref.stop(timeout=LIMIT_S) is False
    ref.signal("x")
    assert not ref.is_alive()


def test_an_actor_spawned_while_the_system_ends_is_started_or_refused_never_forgotten() -> None:
    for _ in range(30):
        system = ActorSystem("test", loop_watch_s=None)
        go = threading.Barrier(2)

        def spawn_many(system: Any = system, go: Any = go) -> list[Any]:
            refs: list[Any] = []
            go.wait(LIMIT_S)
            for _ in range(50):
                try:
                    refs.append(system.spawn(Echo))
                except (SystemEnded, ActorDeadError):
                    return refs
            return refs

        spawning = in_thread(spawn_many)
        go.wait(LIMIT_S)
        system.shutdown(timeout=LIMIT_S)
        for ref in spawning.get(timeout=LIMIT_S):
            with pytest.raises(ActorDeadError):
                ref.ask(1, timeout=LIMIT_S)
        assert len(system.registry) == 0


def test_asks_and_stops_that_race_with_the_end_are_all_answered() -> None:
    for _ in range(20):
        system = ActorSystem("test", loop_watch_s=None)
        refs = [system.spawn(Echo) for _ in range(5)]
        go = threading.Barrier(2)

        def ask_on(refs: Any = refs, go: Any = go) -> list[Any]:
            replies: list[Any] = []
            go.wait(LIMIT_S)
            for number in range(200):
                ref = refs[number % 5]
                replies.append(ref.ask(number, block=False))
                replies.append(ref.stop(block=False))
            return replies

        asking = in_thread(ask_on)
        go.wait(LIMIT_S)
        system.shutdown(timeout=LIMIT_S)
        for reply in asking.get(timeout=LIMIT_S):
            try:
                reply.get(timeout=LIMIT_S)
            except ActorDeadError:
                pass


def test_what_is_posted_to_a_loop_that_ends_is_called_or_refused(system: ActorSystem) -> None:
    loop_thread = system.loop_thread
    loop_thread.post(lambda: None)
    system.shutdown()
    with pytest.raises(SystemEnded):
        loop_thread.post(lambda: None)
    loop_thread.awake = True  # as a drain that was scheduled and never ran leaves it
    loop_thread.end("over")
    with pytest.raises(SystemEnded, match="over"):
        loop_thread.post(lambda: None)


# -- what does not end -----------------------------------------------------------------------------


def test_a_plain_handler_that_holds_the_loop_is_abandoned_and_named() -> None:
    held = Held()
    system = ActorSystem("held", uvloop=False, loop_watch_s=None)
    abandoned: list[Any] = []
    system.events.subscribe(abandoned.append, ActorAbandoned)
    ref = system.spawn(Player, name="hog")
    asked = ref.ask(lambda _: held.work(), block=False)
    held.wait()
    waiting = ref.ask(lambda _: 1, block=False)
    neighbour = system.spawn(Player)
    also_waiting = neighbour.ask(lambda _: 1, block=False)
    told = neighbour.stop(block=False)
    closing = in_thread(lambda: system.shutdown(timeout=0.05))
    until(lambda: system.ended)
    assert system.abandoned_work[0] == "/user/hog: holding the event loop"
    assert abandoned[0].path == "/user/hog"
    for reply in (waiting, also_waiting):
        with pytest.raises(ActorDeadError):
            reply.get(timeout=LIMIT_S)
    with pytest.raises(SystemEnded):
        system.spawn(Echo)
    held.release()
    closing.get(timeout=LIMIT_S)
    asked.get(timeout=LIMIT_S)
    try:
        told.get(timeout=LIMIT_S)
    except ActorDeadError:
        pass  # the loop had no time for it


def test_an_async_handler_that_suppresses_its_cancellation_does_not_hold_up_shutdown() -> None:
    let_go = threading.Event()
    running: Reply[None] = Reply()

    async def stubborn(_: Any) -> None:
        running.settle()
        while not let_go.is_set():
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                pass

    with VirtualSystem("stubborn") as system:
        ref = system.spawn(Player, name="stubborn")
        asked = ref.ask(stubborn, block=False)
        running.get(timeout=LIMIT_S)
        asked.add_done_callback(lambda _: let_go.set())
    assert system.abandoned_work == ["/user/stubborn: handling a message"]
    with pytest.raises(ActorDeadError):
        asked.get(timeout=LIMIT_S)


def test_a_blocking_handler_that_never_ends_is_abandoned_named_and_its_asker_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("runtime.ending.GRACE_S", 0.02)
    monkeypatch.setattr("runtime.shutdown.LOOP_END_S", 0.1)
    held = Held()
    with ActorSystem("stuck", uvloop=False) as system:
        ref = system.spawn(BlockingPlayer, name="stuck", shutdown=0.01)
        asked = ref.ask(held.work, block=False)
        held.wait()
    assert system.abandoned_work[0] == "/user/stuck: handling a message"
    assert "thread greenroom-stuck-stuck-0" in system.abandoned_work[1]
    with pytest.raises(ActorDeadError):
        asked.get(timeout=LIMIT_S)
    held.release()


def test_a_shutdown_that_has_no_time_answers_everyone_it_abandons(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("runtime.shutdown.LOOP_END_S", 0.1)
    held, started = Held(), Held()

    class Starts(Player):
        async def on_start(self) -> None:
            started.begun.settle()
            await asyncio.sleep(3600)

    system = ActorSystem("cut", uvloop=False)
    ref, blocking = system.spawn(Player, name="a"), system.spawn(BlockingPlayer, name="b")
    running = ref.ask(lambda _: asyncio.sleep(3600), block=False)
    work = system.spawn(Player).ask(lambda self: self.background(asyncio.sleep(3600)), block=False)
    on_thread = blocking.ask(held.work, block=False)
    held.wait()
    behind = blocking.ask(lambda _: 1, block=False)
    starting = system.user.astart_child(ChildSpec(Starts))
    started.wait()
    system.shutdown(timeout=0.0)
    for reply in (running, work, on_thread, behind, starting):
        with pytest.raises(Exception, match=r"abandoned|stopped|ended"):
            reply.get(timeout=LIMIT_S)
    assert "/user/b: still running" in system.abandoned_work
    held.release()


def test_an_end_hook_that_holds_the_loop_is_bounded_by_the_whole_shutdown() -> None:
    held = Held()

    class Holds(Player):
        def on_stop(self) -> None:
            held.work()

    system = ActorSystem("held", uvloop=False, loop_watch_s=None)
    system.spawn(Holds, name="hog").ask(lambda _: None, timeout=LIMIT_S)
    closing = in_thread(lambda: system.shutdown(timeout=0.05))
    until(lambda: system.ended)
    assert system.abandoned_work[0] == "/user/hog: holding the event loop"
    held.release()
    closing.get(timeout=LIMIT_S)


# -- failing as a whole ----------------------------------------------------------------------------


def test_leaving_the_block_of_a_failed_system_raises_unless_something_else_is_raised() -> None:
    with pytest.raises(SystemEnded, match="failed") as ended:
        with ActorSystem("failing", max_restarts=0, uvloop=False) as system:
            system.spawn(Player, restart="permanent").tell(fail())
            until(lambda: system.ended)
    assert ended.value.__cause__ is system.failure
    with pytest.raises(Boom):
        with ActorSystem("failing", max_restarts=0, uvloop=False) as system:
            system.spawn(Player, restart="permanent").tell(fail())
            until(lambda: system.ended)
            raise Boom


def test_settings_that_cannot_be_are_refused_and_leave_no_thread() -> None:
    with pytest.raises(MisuseError, match="max_restarts"):
        ActorSystem("wrong", max_restarts=-1)


def test_what_the_loops_own_executor_and_generators_hold_is_closed(system: ActorSystem) -> None:
    closed: list[str] = []

    async def numbers() -> Any:
        try:
            yield 1
            yield 2
        finally:
            closed.append("generator")

    kept: list[Any] = []

    async def begin(_: Any) -> None:
        generator = numbers()
        kept.append(generator)
        await anext(generator)

    system.spawn(Player).ask(begin, timeout=LIMIT_S)
    system.shutdown()
    assert closed == ["generator"]
