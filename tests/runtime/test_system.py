"""The system: spawning, names, services, dead letters, events, memory, and two systems side by side."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
import weakref
from typing import Any

import pytest

from runtime import (
    Actor,
    ActorRestarted,
    ActorStarted,
    ActorStopped,
    ActorSystem,
    ChildSpec,
    DeadLetter,
    MisuseError,
    NameTaken,
    Supervisor,
)
from runtime.deadletters import KEPT
from tests.runtime.players import (
    LIMIT_S,
    BlockingPlayer,
    Boom,
    Echo,
    Player,
    Strict,
    fail,
    in_thread,
    until,
)

# -- names and paths -------------------------------------------------------------------------------


def test_names_and_paths_tell_where_an_actor_stands(any_system: ActorSystem) -> None:
    supervisor = any_system.spawn(Supervisor, name="pool")
    child = supervisor.start_child(ChildSpec(Echo, name="worker"))
    assert child.name == "worker"
    assert child.path == "/user/pool/worker"
    unnamed = any_system.spawn(Echo)
    assert unnamed.name.startswith("Echo-")
    assert unnamed.path == f"/user/{unnamed.name}"
    assert any_system.registry.find(unnamed.name) is unnamed._cell
    assert any_system.root.path == "/"
    assert any_system.user.path == "/user"


def test_a_name_is_free_again_when_its_actor_has_stopped_and_kept_over_a_restart(
    system: ActorSystem,
) -> None:
    child = system.spawn(Supervisor).start_child(ChildSpec(Strict, name="x"))
    child.tell(fail())
    child.ask(lambda _: 1, timeout=LIMIT_S)
    with pytest.raises(NameTaken):
        system.spawn(Echo, name="x")
    child.stop(timeout=LIMIT_S)
    system.spawn(Echo, name="x")


def test_of_many_threads_that_want_one_name_exactly_one_gets_it(system: ActorSystem) -> None:
    for number in range(20):
        start = threading.Barrier(6)

        def take(name: str = f"n{number}", start: Any = start) -> bool:
            start.wait(LIMIT_S)
            try:
                system.spawn(Echo, name=name)
            except NameTaken:
                return False
            return True

        takers = [in_thread(take) for _ in range(6)]
        assert sum(taker.get(timeout=LIMIT_S) for taker in takers) == 1


def test_users_may_use_the_names_of_the_runtimes_own(system: ActorSystem) -> None:
    for name in ("root", "user", "services"):
        assert system.spawn(Echo, name=name).ask(1, timeout=LIMIT_S) == 1


def test_the_registry_knows_who_lives_by_class(system: ActorSystem) -> None:
    echoes = {system.spawn(Echo) for _ in range(3)}
    system.spawn(Player)
    assert set(system.registry.of_class(Echo)) == echoes
    assert echoes < set(system.registry.all())
    before = len(system.registry)
    echoes.pop().stop(timeout=LIMIT_S)
    assert len(system.registry) == before - 1
    assert system.registry.get("nobody") is None
    assert system.registry.find("Echo-999999999") is None


# -- services --------------------------------------------------------------------------------------


def test_ensure_makes_a_service_once_from_many_threads(any_system: ActorSystem) -> None:
    start = threading.Barrier(6)

    def ensure() -> Any:
        start.wait(LIMIT_S)
        return any_system.ensure(Echo, name="shared")

    refs = {one.get(timeout=LIMIT_S) for one in [in_thread(ensure) for _ in range(6)]}
    assert len(refs) == 1
    assert refs.pop().path == "/services/shared"


def test_ensure_refuses_a_name_of_another_class(system: ActorSystem) -> None:
    system.spawn(Echo, name="taken")
    with pytest.raises(MisuseError, match="is a Echo, not a Player"):
        system.ensure(Player, name="taken")


def test_a_service_is_restarted(virtual: Any) -> None:
    ref = virtual.ensure(Strict, name="service")
    ref.tell(fail())
    assert ref.ask(lambda _: "back", timeout=LIMIT_S) == "back"


# -- spawn -----------------------------------------------------------------------------------------


def test_spawn_works_from_handlers_and_from_blocking_actors(any_system: ActorSystem) -> None:
    def spawn(self: Any) -> Any:
        return self.system.spawn(Echo)

    for kind in (Player, BlockingPlayer):
        child = any_system.spawn(kind).ask(spawn, timeout=LIMIT_S)
        assert child.ask(1, timeout=LIMIT_S) == 1


def test_messages_sent_right_after_spawn_wait_for_the_start(any_system: ActorSystem) -> None:
    order: list[str] = []

    class Starts(Player):
        def on_start(self) -> None:
            order.append("start")

    for _ in range(100):
        order.clear()
        ref = any_system.spawn(Starts)
        ref.ask(lambda _: order.append("message"), timeout=LIMIT_S)
        assert order == ["start", "message"]


def test_keyword_arguments_go_to_the_actor_or_to_spawn_by_name(system: ActorSystem) -> None:
    class Takes(Actor):
        def __init__(self, first: int, *, second: int) -> None:
            super().__init__()
            self.sum = first + second

        def on_receive(self, message: Any) -> int:
            return self.sum

    assert system.spawn(Takes, 1, second=2, name="x").ask(0, timeout=LIMIT_S) == 3


def test_only_actor_classes_can_be_spawned(system: ActorSystem) -> None:
    with pytest.raises(MisuseError, match=r"subclass of runtime\.Actor"):
        system.spawn(dict)  # type: ignore[arg-type]


# -- events ----------------------------------------------------------------------------------------


def test_events_tell_the_life_of_an_actor(any_system: ActorSystem) -> None:
    seen: list[Any] = []
    unsubscribe = any_system.events.subscribe(
        seen.append, ActorStarted, ActorStopped, ActorRestarted
    )
    supervisor = any_system.spawn(Supervisor, name="sup")
    child = supervisor.start_child(ChildSpec(Strict, name="x"))
    child.tell(fail())
    child.ask(lambda _: 1, timeout=LIMIT_S)
    child.stop(timeout=LIMIT_S)
    told = [event for event in seen if event.path == "/user/sup/x"]
    assert [type(event) for event in told] == [
        ActorStarted,
        ActorStarted,
        ActorRestarted,
        ActorStopped,
    ]
    assert [event.incarnation for event in told[:3]] == [0, 1, 1]
    unsubscribe()
    count = len(seen)
    any_system.spawn(Echo).ask(1, timeout=LIMIT_S)
    assert len(seen) == count
    assert not any_system.events.wants(ActorStarted)


def test_a_subscriber_that_raises_fails_nobody_else(
    system: ActorSystem, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[Any] = []

    def wrong(_: Any) -> None:
        raise Boom

    system.events.subscribe(wrong, ActorStarted)
    system.events.subscribe(seen.append, ActorStarted)
    assert system.spawn(Echo).ask(1, timeout=LIMIT_S) == 1
    assert len(seen) == 1
    assert "subscriber_failed" in caplog.text


def test_subscribing_from_many_threads_loses_nobody(system: ActorSystem) -> None:
    start = threading.Barrier(8)

    def subscribe() -> None:
        start.wait(LIMIT_S)
        for _ in range(50):
            system.events.subscribe(lambda _: None, ActorStarted)

    for one in [in_thread(subscribe) for _ in range(8)]:
        one.get(timeout=LIMIT_S)
    assert len(system.events._subscribers[ActorStarted]) == 400


def test_dead_letters_are_counted_and_the_newest_kept(system: ActorSystem) -> None:
    ref = system.spawn(Echo)
    ref.stop(timeout=LIMIT_S)
    for number in range(KEPT + 10):
        ref.ask(number, block=False)
    assert system.dead_letters.count == KEPT + 10
    assert [letter.message for letter in system.dead_letters.newest()] == list(range(10, KEPT + 10))


def test_a_dead_letter_whose_message_has_a_finaliser_that_sends_hangs_nobody(
    system: ActorSystem,
) -> None:
    ref = system.spawn(Echo)
    ref.stop(timeout=LIMIT_S)

    class Sends:
        def __del__(self) -> None:
            ref.ask("from the finaliser", block=False)

    for _ in range(KEPT + 5):
        ref.ask(Sends(), block=False)
    assert system.dead_letters.count > KEPT + 5
    for _ in range(3 * KEPT):  # until the last finaliser has run
        ref.ask("plain", block=False)


def test_logs_of_an_actor_carry_system_and_path(
    system: ActorSystem, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "greenroom"):
        system.spawn(Player, name="x").ask(lambda self: self.log.info("hello"), timeout=LIMIT_S)
    assert "system='test' actor='/user/x'" in caplog.text


# -- side by side ----------------------------------------------------------------------------------


def test_two_systems_share_nothing(system: ActorSystem) -> None:
    with ActorSystem("other") as other:
        system.spawn(Echo, name="same")
        assert other.spawn(Echo, name="same").ask(1, timeout=LIMIT_S) == 1
        letters: list[Any] = []
        system.events.subscribe(letters.append, DeadLetter)
        dead = other.spawn(Echo)
        dead.stop(timeout=LIMIT_S)
        dead.ask(1, block=False)
        assert letters == []
        assert system.dead_letters.count == 0


# -- memory ----------------------------------------------------------------------------------------


def test_ten_thousand_stopped_actors_leave_nothing(any_system: ActorSystem) -> None:
    supervisor = any_system.spawn(Supervisor)
    any_system.spawn(Player).ask(lambda _: None, timeout=LIMIT_S)
    before = len(any_system.registry)
    cells: list[weakref.ref[Any]] = []
    instances: list[weakref.ref[Any]] = []
    refs = [any_system.spawn(Echo, supervisor=supervisor) for _ in range(10_000)]
    for ref in refs[::100]:
        assert ref.ask(1, timeout=LIMIT_S) == 1
    for ref in refs:
        cells.append(weakref.ref(ref._cell))
        instances.append(weakref.ref(ref._cell.current_instance))
    stops = [ref.stop(block=False) for ref in refs[:5000]]
    for stopped in stops:
        assert stopped.get(timeout=LIMIT_S)
    supervisor.stop(timeout=LIMIT_S)
    del ref, refs, stops, stopped, supervisor
    any_system.spawn(Echo).ask(1, timeout=LIMIT_S)
    gc.collect()
    assert sum(cell() is not None for cell in cells) == 0
    assert sum(instance() is not None for instance in instances) == 0
    assert len(any_system.registry) == before  # the last echo for the supervisor


def test_a_busy_actor_that_was_stopped_is_not_kept_by_the_clock(system: ActorSystem) -> None:
    ref = system.spawn(Player)

    async def wait(_: Any) -> None:
        await asyncio.sleep(0.01)

    ref.tell(wait)
    cell = weakref.ref(ref._cell)
    assert ref.stop(mode="now", timeout=LIMIT_S)
    del ref
    system.spawn(Echo).ask(1, timeout=LIMIT_S)

    def gone() -> bool:
        gc.collect()
        return cell() is None

    until(gone)
    assert not [timer for timer in _timers(system) if timer.when() > system.clock() + 2]


def _timers(system: ActorSystem) -> list[Any]:
    return [
        timer
        for timer in getattr(system.loop_thread.loop, "_scheduled", [])
        if not timer.cancelled()
    ]


def test_an_ended_system_is_not_kept(any_system: ActorSystem) -> None:
    with ActorSystem("brief") as brief:
        brief.spawn(Echo).ask(1, timeout=LIMIT_S)
    gone = weakref.ref(brief)
    del brief
    gc.collect()
    assert gone() is None
