"""Supervisors: order, restart tables, groups, intensity, back-off, escalation, dynamic children."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest

from runtime import (
    Actor,
    ActorDeadError,
    ActorRef,
    ActorRestarted,
    ActorStopped,
    ActorSystem,
    AskCycle,
    Backoff,
    BlockingActor,
    ChildNotFound,
    ChildSpec,
    ChildStartError,
    MisuseError,
    NameTaken,
    Reply,
    RestartsExceeded,
    Supervisor,
    SupervisorRef,
    SystemEnded,
)
from runtime.testing import VirtualSystem
from tests.runtime.players import (
    LIMIT_S,
    Boom,
    Echo,
    Held,
    Noted,
    Player,
    Strict,
    fail,
    until,
)


def children_of(notes: list[str], names: str, **settings: Any) -> list[ChildSpec]:
    """One noted child a letter."""
    return [ChildSpec(Noted, (name, notes), name=name, **settings) for name in names]


def named(system: ActorSystem, name: str) -> ActorRef[Any]:
    """The living actor of that name; waits for it."""
    until(lambda: system.registry.get(name) is not None)
    return cast("ActorRef[Any]", system.registry.get(name))


def alive(supervisor: SupervisorRef) -> list[str]:
    """The names of the children, in order."""
    return [child.name for child in supervisor.which_children(timeout=LIMIT_S)]


# -- order -----------------------------------------------------------------------------------------


def test_children_start_in_order_and_stop_in_reverse(any_system: ActorSystem) -> None:
    notes: list[str] = []
    supervisor = any_system.spawn(Supervisor, children_of(notes, "abc"))
    assert alive(supervisor) == ["a", "b", "c"]
    supervisor.stop(timeout=LIMIT_S)
    assert notes == ["start a", "start b", "start c", "stop c", "stop b", "stop a"]


def test_each_child_of_the_list_is_waited_for_before_the_next_is_started_or_told_to_stop(
    virtual: VirtualSystem,
) -> None:
    notes: list[str] = []

    class Slow(Noted):
        async def on_start(self) -> None:
            self.note("starting")
            await asyncio.sleep(1)
            self.note("started")

        async def on_stop(self) -> None:
            self.note("stopping")
            await asyncio.sleep(1)
            self.note("stopped")

    supervisor = virtual.spawn(Supervisor, [ChildSpec(Slow, (name, notes)) for name in "ab"])
    virtual.advance(10)
    supervisor.stop(timeout=LIMIT_S)
    assert notes == [
        *["starting a", "started a", "starting b", "started b"],
        *["stopping b", "stopped b", "stopping a", "stopped a"],
    ]


def test_a_child_of_the_list_that_fails_to_start_ends_those_before_it_and_the_supervisor(
    any_system: ActorSystem,
) -> None:
    notes: list[str] = []

    class Bad(Noted):
        def on_start(self) -> None:
            raise Boom

    top = any_system.spawn(Supervisor)
    specs = [*children_of(notes, "ab"), ChildSpec(Bad, ("bad", notes)), *children_of(notes, "c")]
    with pytest.raises(ChildStartError):
        top.start_child(ChildSpec(Supervisor, (specs,), name="sup"), timeout=LIMIT_S)
    assert notes == ["start a", "start b", "stop b", "stop a"]
    assert [any_system.registry.get(name) for name in ("a", "b", "sup")] == [None, None, None]


def test_a_child_adopted_by_a_supervisor_that_fails_to_start_is_stopped_with_it(
    system: ActorSystem,
) -> None:
    held = Held()

    class Bad(Player):
        async def on_start(self) -> None:
            await held.awork()
            raise Boom

    supervisor = system.spawn(Supervisor, [ChildSpec(Bad)])
    held.wait()
    child = system.spawn(Echo, supervisor=supervisor)
    assert child.ask(1, timeout=LIMIT_S) == 1
    held.release()
    until(lambda: not child.is_alive() and not supervisor.is_alive())


# -- restart x reason ------------------------------------------------------------------------------


def end_normally(self: Any) -> None:
    """A message that ends a player by itself."""
    self.stop()


@pytest.mark.parametrize("restart", ["permanent", "transient", "temporary"])
@pytest.mark.parametrize("how", ["normal", "error", "error in the background", "fail()"])
@pytest.mark.parametrize("strategy", ["one_for_one", "one_for_all", "rest_for_one"])
def test_restart_by_kind_and_reason(
    system: ActorSystem, restart: Any, how: str, strategy: Any
) -> None:
    async def break_down() -> None:
        raise Boom

    messages: dict[str, Callable[[Any], Any]] = {
        "normal": end_normally,
        "error": fail(),
        "error in the background": lambda self: self.background(break_down()) and None,
        "fail()": lambda self: self.fail(Boom()),
    }
    notes: list[str] = []
    supervisor = system.spawn(
        Supervisor, children_of(notes, "x", restart=restart), strategy=strategy
    )
    stopped: list[ActorStopped] = []
    system.events.subscribe(stopped.append, ActorStopped)
    ref = named(system, "x")
    ref.tell(messages[how])
    ended = "stop x" if how == "normal" else "fail x"
    back = restart == "permanent" or (restart == "transient" and how != "normal")
    if back:
        until(lambda: len(notes) == 4)
        assert ref.ask(lambda _: "back", timeout=LIMIT_S) == "back"
        assert notes == ["start x", ended, "restart x", "start x"]
        assert alive(supervisor) == ["x"]
        assert stopped == []
    else:
        until(lambda: stopped != [])
        assert notes == ["start x", ended]
        assert alive(supervisor) == []
        reason = stopped[0].reason
        assert reason == "normal" if how == "normal" else isinstance(reason, Boom)


@pytest.mark.parametrize("restart", ["permanent", "transient", "temporary"])
def test_a_child_stopped_from_outside_is_not_restarted_whatever_its_kind(
    system: ActorSystem, restart: Any
) -> None:
    notes: list[str] = []
    supervisor = system.spawn(Supervisor, children_of(notes, "x", restart=restart))
    named(system, "x").stop(timeout=LIMIT_S)
    assert alive(supervisor) == []
    assert notes == ["start x", "stop x"]


# -- shutdown x behaviour --------------------------------------------------------------------------


class Lingering(Noted):
    """Takes so many seconds to end a handler when stopped; `resists` says what of."""

    def __init__(self, name: str, notes: list[str], seconds: float, resists: bool) -> None:
        super().__init__(name, notes)
        self.seconds = seconds
        self.resists = resists

    async def on_receive(self, message: Any) -> None:
        try:
            await asyncio.sleep(self.seconds)
            self.note("finished")
        except asyncio.CancelledError:
            self.note("cancelled")
            if self.resists:
                await asyncio.sleep(1e6)
            raise


@pytest.mark.parametrize(
    ("shutdown", "seconds", "resists", "expected", "at_s"),
    [
        (None, 1.0, False, ["finished x", "stop x"], 1.0),
        (None, 60.0, False, ["cancelled x", "stop x"], 5.0),
        (None, 60.0, True, ["cancelled x", "stop x"], 6.0),
        (2.0, 1.0, False, ["finished x", "stop x"], 1.0),
        (2.0, 60.0, False, ["cancelled x", "stop x"], 2.0),
        (0, 60.0, False, ["cancelled x", "stop x"], 0.0),
        (0, 60.0, True, ["cancelled x", "stop x"], 1.0),
        (float("inf"), 3600.0, False, ["finished x", "stop x"], 3600.0),
    ],
)
def test_shutdown_by_behaviour_of_the_child(
    virtual: VirtualSystem,
    shutdown: float | None,
    seconds: float,
    resists: bool,
    expected: list[str],
    at_s: float,
) -> None:
    notes: list[str] = []
    spec = ChildSpec(Lingering, ("x", notes, seconds, resists), name="x", shutdown=shutdown)
    supervisor = virtual.spawn(Supervisor, [spec])
    named(virtual, "x").tell("work")
    virtual.settle()
    supervisor.stop(timeout=LIMIT_S)
    assert notes == ["start x", *expected]
    assert virtual.clock() == pytest.approx(at_s)
    assert bool(virtual.abandoned_work) is resists


def test_many_busy_dynamic_children_share_one_shutdown_time(virtual: VirtualSystem) -> None:
    notes: list[str] = []
    supervisor = virtual.spawn(Supervisor)
    for number in range(50):
        spec = ChildSpec(Lingering, (str(number), notes, 60.0, False))
        supervisor.start_child(spec).tell("work")
    virtual.settle()
    supervisor.stop(timeout=LIMIT_S)
    assert virtual.clock() == pytest.approx(5.0)
    assert sum(note.startswith("cancelled") for note in notes) == 50


# -- groups ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("strategy", "victim", "expected"),
    [
        ("one_for_one", "b", "fail b, restart b, start b"),
        (
            "one_for_all",
            "b",
            "fail b, stop d, stop c, stop a, restart a, start a, restart b, start b, restart c, start c, restart d, start d",
        ),
        (
            "rest_for_one",
            "b",
            "fail b, stop d, stop c, restart b, start b, restart c, start c, restart d, start d",
        ),
        ("rest_for_one", "d", "fail d, restart d, start d"),
    ],
)
def test_a_group_is_stopped_in_reverse_and_started_in_order(
    any_system: ActorSystem, strategy: Any, victim: str, expected: str
) -> None:
    notes: list[str] = []
    supervisor = any_system.spawn(Supervisor, children_of(notes, "abcd"), strategy=strategy)
    alive(supervisor)
    notes.clear()
    named(any_system, victim).tell(fail())
    until(lambda: len(notes) >= len(expected.split(", ")))
    assert alive(supervisor) == list("abcd")
    assert notes == expected.split(", ")


def test_refs_stay_valid_over_a_group_restart_and_messages_wait(system: ActorSystem) -> None:
    notes: list[str] = []
    supervisor = system.spawn(Supervisor, children_of(notes, "abc"), strategy="one_for_all")
    refs = [named(system, name) for name in alive(supervisor)]
    held = Held()
    refs[0].tell(held.awork)
    held.wait()
    waiting = refs[0].ask(lambda _: "waited", block=False)
    refs[1].tell(fail())
    held.release()
    assert waiting.get(timeout=LIMIT_S) == "waited"
    assert [ref.ask(lambda _: 1, timeout=LIMIT_S) for ref in refs] == [1, 1, 1]


def test_the_reason_of_a_neighbours_restart_is_shutdown(system: ActorSystem) -> None:
    reasons: dict[str, Any] = {}
    restarted: list[ActorRestarted] = []
    system.events.subscribe(restarted.append, ActorRestarted)

    class Telling(Strict):
        def __init__(self, name: str) -> None:
            super().__init__()
            self.label = name

        def on_restart(self, reason: Any) -> None:
            reasons[self.label] = reason

    system.spawn(
        Supervisor,
        [ChildSpec(Telling, (name,), name=name) for name in "ab"],
        strategy="one_for_all",
    )
    named(system, "b").tell(fail())
    until(lambda: len(reasons) == 2 and len(restarted) == 2)
    assert reasons["a"] == "shutdown"
    assert isinstance(reasons["b"], Boom)
    assert [event.path.rpartition("/")[2] for event in restarted] == ["a", "b"]


def test_temporary_children_of_a_group_are_stopped_for_good(system: ActorSystem) -> None:
    notes: list[str] = []
    specs = [
        *children_of(notes, "a"),
        *children_of(notes, "t", restart="temporary"),
        *children_of(notes, "b"),
    ]
    supervisor = system.spawn(Supervisor, specs, strategy="one_for_all")
    named(system, "b").tell(fail())
    until(lambda: notes.count("start b") == 2)
    assert alive(supervisor) == ["a", "b"]
    assert notes.count("start t") == 1
    assert notes.count("stop t") == 1


def test_a_temporary_child_that_fails_takes_nobody_with_it(system: ActorSystem) -> None:
    notes: list[str] = []
    specs = [*children_of(notes, "t", restart="temporary"), *children_of(notes, "ab")]
    supervisor = system.spawn(Supervisor, specs, strategy="one_for_all")
    ref = named(system, "t")
    ref.tell(fail())
    until(lambda: not ref.is_alive())
    assert alive(supervisor) == ["a", "b"]
    assert notes == ["start t", "start a", "start b", "fail t"]


class Flaky(Noted):
    """Fails its start for the numbers given, counted over all incarnations."""

    def __init__(self, name: str, notes: list[str], bad: set[int]) -> None:
        super().__init__(name, notes)
        self.bad = bad

    def on_start(self) -> None:
        self.note("start")
        if self.notes.count(f"start {self.label}") in self.bad:
            raise Boom


@pytest.mark.parametrize("strategy", ["one_for_all", "rest_for_one"])
def test_a_child_that_fails_again_while_its_group_restarts(
    system: ActorSystem, strategy: Any
) -> None:
    notes: list[str] = []
    specs = [
        *children_of(notes, "a"),
        ChildSpec(Flaky, ("f", notes, {2, 3}), name="f"),
        *children_of(notes, "c"),
    ]
    supervisor = system.spawn(Supervisor, specs, strategy=strategy)
    victim = "a" if strategy == "rest_for_one" else "c"
    named(system, victim).tell(fail())
    until(lambda: notes.count("start f") == 4)
    assert alive(supervisor) == ["a", "f", "c"]
    states = {info.state for info in supervisor.which_children(timeout=LIMIT_S)}
    assert states == {"running"}


def test_a_child_that_fails_while_a_later_one_of_its_group_starts(system: ActorSystem) -> None:
    notes: list[str] = []
    held = Held()

    class SlowSecond(Noted):
        async def on_start(self) -> None:
            self.note("start")
            if self.notes.count("start s") == 2:
                await held.awork()

    specs = [*children_of(notes, "a"), ChildSpec(SlowSecond, ("s", notes), name="s")]
    supervisor = system.spawn(Supervisor, specs, strategy="one_for_all")
    first = named(system, "a")
    named(system, "s").tell(fail())
    held.wait()
    first.tell(fail())
    held.release()
    until(lambda: notes.count("start s") == 3)
    assert alive(supervisor) == ["a", "s"]
    assert first.ask(lambda _: "back", timeout=LIMIT_S) == "back"


def test_a_child_stopped_while_its_group_restarts_does_not_keep_the_others_waiting(
    system: ActorSystem,
) -> None:
    notes: list[str] = []
    held = Held()

    class SlowSecond(Noted):
        async def on_start(self) -> None:
            self.note("start")
            if self.notes.count("start s") == 2:
                await held.awork()

    specs = [
        *children_of(notes, "a"),
        ChildSpec(SlowSecond, ("s", notes), name="s"),
        *children_of(notes, "c"),
    ]
    supervisor = system.spawn(Supervisor, specs, strategy="one_for_all")
    slow = named(system, "s")
    named(system, "a").tell(fail())
    held.wait()
    assert slow.stop(mode="now", timeout=LIMIT_S)
    until(lambda: notes.count("start c") == 2)
    assert alive(supervisor) == ["a", "c"]


def test_a_child_that_waits_for_its_supervisors_answer_does_not_break_a_group_restart(
    virtual: VirtualSystem,
) -> None:
    """The child is refused: its supervisor waits for its end. The supervisor goes on."""
    notes: list[str] = []
    supervisor = virtual.spawn(Supervisor, children_of(notes, "ab"), strategy="one_for_all")
    asking: Reply[None] = Reply()

    async def ask_after_a_while(_: Any) -> Any:
        asking.settle()
        await asyncio.sleep(1)
        return await supervisor.acount_children()

    asked = named(virtual, "a").ask(ask_after_a_while, block=False)
    asking.get(timeout=LIMIT_S)
    named(virtual, "b").tell(fail())
    virtual.advance(30)
    with pytest.raises(AskCycle):
        asked.get(timeout=LIMIT_S)
    assert alive(supervisor) == ["a", "b"]
    assert virtual.failure is None


@pytest.mark.parametrize("first", ["the child asks", "the supervisor stops"])
def test_a_supervisor_stops_at_once_although_a_child_wants_an_answer(
    virtual: VirtualSystem, first: str
) -> None:
    supervisor = virtual.spawn(Supervisor, [ChildSpec(Player, name="x")])
    held = Held()

    async def ask(_: Any) -> Any:
        if first == "the supervisor stops":
            await held.awork()
        else:
            await asyncio.sleep(0)
        return await supervisor.acount_children()

    cell: Any = supervisor._cell
    busy, entered = Held(), cell.tell_control
    virtual.loop_thread.post(
        entered, lambda _: busy.awork()
    )  # so that the answer does not come at once
    busy.wait()
    asked = named(virtual, "x").ask(ask, block=False)
    virtual.settle()
    stopped = supervisor.stop(block=False, mode="now")
    virtual.settle()
    held.release()
    virtual.settle()
    assert stopped.get(timeout=LIMIT_S)
    with pytest.raises((ActorDeadError, AskCycle)):
        asked.get(timeout=LIMIT_S)
    assert virtual.clock() == 0
    assert virtual.registry.get("x") is None


def test_a_child_whose_first_start_is_broken_off_by_its_group_is_answered_when_it_runs(
    system: ActorSystem,
) -> None:
    notes: list[str] = []
    held = Held()

    class Slow(Noted):
        async def on_start(self) -> None:
            self.note("start")
            if self.notes.count("start s") == 1:
                await held.awork()

    supervisor = system.spawn(Supervisor, children_of(notes, "a"), strategy="one_for_all")
    starting = supervisor.astart_child(ChildSpec(Slow, ("s", notes), name="s"))
    held.wait()
    named(system, "a").tell(fail())
    assert starting.get(timeout=LIMIT_S).ask(lambda _: "runs", timeout=LIMIT_S) == "runs"
    assert notes.count("start s") == 2
    assert alive(supervisor) == ["a", "s"]


# -- intensity, back-off, escalation ---------------------------------------------------------------


def test_more_restarts_than_allowed_end_the_children_and_the_supervisor(
    virtual: VirtualSystem,
) -> None:
    notes: list[str] = []
    supervisor = virtual.spawn(Supervisor, children_of(notes, "ab"), max_restarts=3, window=5.0)
    stopped: list[ActorStopped] = []
    virtual.events.subscribe(stopped.append, ActorStopped)
    ref = named(virtual, "b")
    for _ in range(4):
        ref.tell(fail())
    virtual.settle()
    assert not supervisor.is_alive()
    assert notes.count("start b") == 4
    assert notes[-1] == "stop a"
    reason = stopped[-1].reason
    assert isinstance(reason, RestartsExceeded)
    assert isinstance(reason.__cause__, Boom)
    assert "more than 3 restarts within 5 s" in str(reason)


def test_restarts_outside_the_window_are_forgotten(virtual: VirtualSystem) -> None:
    notes: list[str] = []
    supervisor = virtual.spawn(Supervisor, children_of(notes, "b"), max_restarts=3, window=5.0)
    ref = named(virtual, "b")
    for _ in range(20):
        ref.tell(fail())
        virtual.advance(2.0)
    assert supervisor.is_alive()
    assert notes.count("start b") == 21


def test_a_child_that_always_fails_its_start_makes_its_supervisor_give_up(
    any_system: ActorSystem,
) -> None:
    notes: list[str] = []
    spec = ChildSpec(Flaky, ("f", notes, set(range(2, 1000))), name="f")
    supervisor = any_system.spawn(Supervisor, [spec])
    named(any_system, "f").tell(fail())
    until(lambda: not supervisor.is_alive())
    assert notes.count("start f") == 4


def test_backoff_delays_each_restart_longer_and_messages_wait(virtual: VirtualSystem) -> None:
    notes: list[str] = []
    backoff = Backoff(initial=1.0, maximum=4.0, factor=2.0, jitter=0.0, reset_after=60.0)
    supervisor = virtual.spawn(
        Supervisor, children_of(notes, "x"), max_restarts=100, window=1.0, backoff=backoff
    )
    ref = named(virtual, "x")
    waits: list[float] = []
    for _ in range(4):
        began = virtual.clock()
        ref.tell(fail())
        assert ref.ask(lambda _: "back", timeout=LIMIT_S) == "back"
        waits.append(virtual.clock() - began)
    assert waits == pytest.approx([1.0, 2.0, 4.0, 4.0])
    virtual.advance(100.0)
    began = virtual.clock()
    ref.tell(fail())
    ref.ask(lambda _: "back", timeout=LIMIT_S)
    assert virtual.clock() - began == pytest.approx(1.0)
    assert alive(supervisor) == ["x"]


@pytest.mark.parametrize("strategy", ["one_for_all", "rest_for_one"])
def test_backoff_delays_a_group_and_the_supervisor_stops_meanwhile(
    virtual: VirtualSystem, strategy: Any
) -> None:
    notes: list[str] = []
    backoff = Backoff(initial=100.0, maximum=100.0, jitter=0.0)
    supervisor = virtual.spawn(
        Supervisor, children_of(notes, "abc"), strategy=strategy, backoff=backoff
    )
    named(virtual, "a").tell(fail())
    virtual.advance(50.0)
    assert notes[3:] == ["fail a", "stop c", "stop b"]
    assert supervisor.stop(block=False) is not None
    virtual.settle()
    assert not supervisor.is_alive()
    assert virtual.clock() == pytest.approx(50.0)
    assert notes[3:] == ["fail a", "stop c", "stop b"]


def test_a_child_stopped_while_it_waits_for_its_restart_is_not_restarted(
    virtual: VirtualSystem,
) -> None:
    notes: list[str] = []
    supervisor = virtual.spawn(
        Supervisor, children_of(notes, "x"), backoff=Backoff(initial=10.0, jitter=0.0)
    )
    ref = named(virtual, "x")
    ref.tell(fail())
    virtual.advance(5.0)
    ref.tell("waits")
    assert supervisor.which_children(timeout=LIMIT_S)[0].state == "waiting"
    assert ref.stop(block=False).get(timeout=LIMIT_S)
    virtual.advance(100.0)
    assert notes == ["start x", "fail x"]
    assert alive(supervisor) == []
    assert [letter.message for letter in virtual.dead_letters.newest()] == ["waits"]


def test_a_child_restarted_by_hand_while_it_waits_is_not_restarted_twice(
    virtual: VirtualSystem,
) -> None:
    notes: list[str] = []
    supervisor = virtual.spawn(
        Supervisor, children_of(notes, "x"), backoff=Backoff(initial=10.0, jitter=0.0)
    )
    named(virtual, "x").tell(fail())
    virtual.advance(5.0)
    supervisor.restart_child("x", timeout=LIMIT_S)
    virtual.advance(100.0)
    assert notes == ["start x", "fail x", "restart x", "start x"]


def test_escalation_goes_up_through_two_supervisors_to_the_root() -> None:
    notes: list[str] = []
    system = ActorSystem("failing", max_restarts=1, window=60.0, uvloop=False)
    inner = ChildSpec(
        Supervisor, (children_of(notes, "x"),), {"max_restarts": 1, "window": 60.0}, "inner"
    )
    system.spawn(
        Supervisor,
        [inner],
        name="outer",
        restart="permanent",
        max_restarts=1,
        window=60.0,
    )

    def fail_child() -> bool:
        ref = system.registry.get("x")
        if ref is not None:
            try:
                ref.tell(fail())
            except (ActorDeadError, SystemEnded):
                pass  # it has ended meanwhile
        return system.ended

    until(fail_child)
    with pytest.raises(SystemEnded, match="failed") as ended:
        with system:
            pass
    failure = system.failure
    assert isinstance(failure, RestartsExceeded)
    assert ended.value.__cause__ is failure
    # Two starts of x a life of inner, two lives of inner a life of outer, two of outer in /user.
    assert notes.count("start x") == 8


def test_a_supervisor_restarts_with_its_list_and_without_its_dynamic_children(
    system: ActorSystem,
) -> None:
    notes: list[str] = []
    top = system.spawn(Supervisor)
    middle: Any = top.start_child(
        ChildSpec(Supervisor, (children_of(notes, "x"),), {"max_restarts": 0}, "middle")
    )
    dynamic = middle.start_child(ChildSpec(Noted, ("d", notes), name="d"))
    named(system, "x").tell(fail())
    until(lambda: notes.count("start x") == 2)
    assert not dynamic.is_alive()
    assert alive(middle) == ["x"]
    assert notes == ["start x", "start d", "fail x", "stop d", "start x"]


# -- stopping while something hangs ----------------------------------------------------------------


def test_a_supervisor_stopped_while_a_child_hangs_in_on_start(virtual: VirtualSystem) -> None:
    notes: list[str] = []

    class Hangs(Noted):
        async def on_start(self) -> None:
            try:
                await asyncio.sleep(1e6)
            except asyncio.CancelledError:
                self.note("cut")
                raise

    specs = [*children_of(notes, "a"), ChildSpec(Hangs, ("h", notes))]
    supervisor = virtual.spawn(Supervisor, specs)
    named(virtual, "a")
    virtual.settle()
    assert supervisor.stop(mode="now", block=False).get(timeout=LIMIT_S)
    assert notes == ["start a", "cut h", "stop a"]
    assert virtual.abandoned_work == []


def test_a_supervisor_stopped_while_a_child_resists_in_on_start_names_it(
    virtual: VirtualSystem,
) -> None:
    notes: list[str] = []

    class Hangs(Noted):
        async def on_start(self) -> None:
            while True:
                try:
                    await asyncio.sleep(1e6)
                except asyncio.CancelledError:
                    if self.notes.count("let go"):
                        raise

    specs = [*children_of(notes, "a"), ChildSpec(Hangs, ("h", notes), name="h")]
    supervisor = virtual.spawn(Supervisor, specs, name="sup")
    virtual.settle()
    assert supervisor.stop(mode="now", timeout=LIMIT_S)
    assert notes == ["start a", "stop a"]
    assert virtual.abandoned_work == ["/user/sup/h: starting"]
    notes.append("let go")


def test_a_supervisor_stopped_while_a_group_restart_hangs(virtual: VirtualSystem) -> None:
    notes: list[str] = []

    class HangsAgain(Noted):
        async def on_start(self) -> None:
            self.note("start")
            if self.notes.count("start h") > 1:
                await asyncio.sleep(1e6)

    specs = [
        *children_of(notes, "a"),
        ChildSpec(HangsAgain, ("h", notes), name="h"),
        *children_of(notes, "c"),
    ]
    supervisor = virtual.spawn(Supervisor, specs, strategy="one_for_all")
    named(virtual, "a").tell(fail())
    virtual.settle()
    assert supervisor.stop(block=False, mode="now").get(timeout=LIMIT_S)
    assert notes[-2:] == ["start h", "stop a"]
    assert [virtual.registry.get(name) for name in "ahc"] == [None, None, None]


# -- dynamic children ------------------------------------------------------------------------------


def test_children_are_started_ended_restarted_and_counted(any_system: ActorSystem) -> None:
    notes: list[str] = []
    supervisor = any_system.spawn(Supervisor, children_of(notes, "a"))
    child = supervisor.start_child(ChildSpec(Noted, ("d", notes), name="d"), timeout=LIMIT_S)
    supervisor.start_child(ChildSpec(Supervisor), timeout=LIMIT_S)
    counted = supervisor.count_children(timeout=LIMIT_S)
    assert (counted.specs, counted.active, counted.supervisors) == (3, 3, 1)
    assert supervisor.restart_child(child, timeout=LIMIT_S) == child
    supervisor.terminate_child("d", timeout=LIMIT_S)
    supervisor.terminate_child("a", timeout=LIMIT_S)
    assert not child.is_alive()
    again = supervisor.restart_child("a", timeout=LIMIT_S)
    assert again.ask(lambda _: 1, timeout=LIMIT_S) == 1
    with pytest.raises(ChildNotFound):
        supervisor.restart_child("d", timeout=LIMIT_S)
    assert notes == [
        *["start a", "start d", "stop d", "restart d", "start d"],
        *["stop d", "stop a", "start a"],
    ]


def test_the_awaitable_twins_do_the_same(any_system: ActorSystem) -> None:
    supervisor = any_system.spawn(Supervisor)

    async def use(_: Any) -> Any:
        child = await supervisor.astart_child(ChildSpec(Echo, name="e"))
        assert await child.aask(1) == 1
        assert await supervisor.arestart_child("e") == child
        assert [info.name for info in await supervisor.awhich_children()] == ["e"]
        await supervisor.aterminate_child(child)
        return (await supervisor.acount_children()).specs

    assert any_system.spawn(Player).ask(use, timeout=LIMIT_S) == 0


def test_a_child_that_is_not_there_is_named(system: ActorSystem) -> None:
    supervisor, stranger = system.spawn(Supervisor), system.spawn(Echo, name="stranger")
    for wanted in ("nobody", "stranger", stranger):
        with pytest.raises(ChildNotFound, match=r"stranger|nobody"):
            supervisor.terminate_child(wanted, timeout=LIMIT_S)


def test_a_name_taken_twice_is_refused_and_the_first_keeps_it(any_system: ActorSystem) -> None:
    supervisor = any_system.spawn(Supervisor)
    first = supervisor.start_child(ChildSpec(Echo, name="x"), timeout=LIMIT_S)
    with pytest.raises(NameTaken, match="'x' belongs to the living actor"):
        supervisor.start_child(ChildSpec(Echo, name="x"), timeout=LIMIT_S)
    with pytest.raises(NameTaken):
        any_system.spawn(Echo, name="x")
    assert any_system.registry.get("x") == first
    first.stop(timeout=LIMIT_S)
    assert any_system.spawn(Echo, name="x").ask(1, timeout=LIMIT_S) == 1


def test_a_child_stopped_while_a_restart_by_hand_ends_it_is_not_raised_from_the_dead(
    virtual: VirtualSystem,
) -> None:
    notes: list[str] = []
    supervisor = virtual.spawn(Supervisor)
    child = supervisor.start_child(ChildSpec(Lingering, ("x", notes, 3.0, False), name="x"))
    child.tell("work")
    virtual.settle()
    restarted = supervisor.ask(_restart("x"), block=False)
    virtual.settle()
    child.stop(block=False)
    virtual.advance(10)
    with pytest.raises(ChildNotFound):
        restarted.get(timeout=LIMIT_S)
    assert notes.count("start x") == 1
    assert not child.is_alive()


def _restart(name: str) -> Any:
    from runtime.supervisor import RestartChild  # noqa: PLC0415 - one message of that actor's own

    return RestartChild(name)


@pytest.mark.parametrize(
    ("spec", "named_field"),
    [
        (ChildSpec(str), "actor"),  # type: ignore[arg-type]
        (ChildSpec(Echo, restart="sometimes"), "restart"),  # type: ignore[arg-type]
        (ChildSpec(Echo, shutdown=-1), "shutdown"),
        (ChildSpec(Echo, name="a/b"), "name"),
        (ChildSpec(Echo, name=""), "name"),
    ],
)
def test_a_spec_that_cannot_be_is_refused_by_field(
    system: ActorSystem, spec: ChildSpec, named_field: str
) -> None:
    with pytest.raises(MisuseError, match=f"ChildSpec.{named_field}"):
        system.user.start_child(spec, timeout=LIMIT_S)
    with pytest.raises(MisuseError, match=f"ChildSpec.{named_field}"):
        system.spawn(Supervisor, [spec])


def test_a_supervisor_that_cannot_be_is_refused_in_the_caller(system: ActorSystem) -> None:
    with pytest.raises(MisuseError, match="strategy"):
        system.spawn(Supervisor, strategy="none_at_all")
    with pytest.raises(MisuseError, match="Backoff"):
        system.spawn(Supervisor, backoff=Backoff(factor=0.1))


def test_a_supervisor_that_has_ended_takes_no_children(system: ActorSystem) -> None:
    supervisor = system.spawn(Supervisor)
    supervisor.stop(timeout=LIMIT_S)
    with pytest.raises(ActorDeadError):
        supervisor.start_child(ChildSpec(Echo), timeout=LIMIT_S)
    with pytest.raises(ActorDeadError, match="takes no children"):
        system.spawn(Echo, supervisor=supervisor)


def test_a_child_spawned_under_a_supervisor_that_is_ending_is_stopped_unstarted(
    virtual: VirtualSystem,
) -> None:
    notes: list[str] = []
    supervisor = virtual.spawn(Supervisor)
    slow = supervisor.start_child(ChildSpec(Lingering, ("x", notes, 3.0, False)))
    slow.tell("work")
    virtual.settle()
    cell: Any = supervisor._cell
    virtual.loop_thread.post(lambda: None)
    stopped = supervisor.stop(block=False)
    virtual.settle()
    late = virtual.nursery.spawn(ChildSpec(Noted, ("late", notes)), cell)
    asked = late.ask(lambda _: 1, block=False)
    virtual.advance(10)
    assert stopped.get(timeout=LIMIT_S)
    with pytest.raises(ActorDeadError):
        asked.get(timeout=LIMIT_S)
    assert "start late" not in notes


def test_a_child_spawned_under_a_supervisor_that_waits_for_its_restart_is_stopped(
    virtual: VirtualSystem,
) -> None:
    """Adopted by nobody it would live on without a supervisor."""
    notes: list[str] = []
    top = virtual.spawn(Supervisor, backoff=Backoff(initial=10.0, jitter=0.0))
    middle: Any = top.start_child(
        ChildSpec(Supervisor, (children_of(notes, "x"),), {"max_restarts": 0})
    )
    named(virtual, "x").tell(fail())
    virtual.advance(5.0)
    late = virtual.spawn(Noted, "late", notes, supervisor=middle)
    virtual.advance(20.0)
    assert not late.is_alive()
    assert "start late" not in notes
    assert alive(middle) == ["x"]


def test_spawn_takes_only_the_ref_of_a_supervisor_of_its_system(system: ActorSystem) -> None:
    with pytest.raises(MisuseError, match="ref of a Supervisor"):
        system.spawn(Echo, supervisor=system.spawn(Echo))
    with ActorSystem("other") as other:
        with pytest.raises(MisuseError, match="of this system"):
            system.spawn(Echo, supervisor=other.user)


def test_a_supervisor_does_not_understand_other_messages_and_lives_on(
    system: ActorSystem,
) -> None:
    supervisor = system.spawn(Supervisor)
    assert supervisor.ask("hello", timeout=LIMIT_S) is None
    assert alive(supervisor) == []


def test_blocking_actors_are_supervised_like_others(system: ActorSystem) -> None:
    starts: list[int] = []

    class Fragile(BlockingActor):
        expected_errors = ()

        def on_start(self) -> None:
            starts.append(1)

        def on_receive(self, message: Any) -> Any:
            if message == "fail":
                raise Boom
            return message

    supervisor = system.spawn(Supervisor, [ChildSpec(Fragile, name="f")], strategy="one_for_all")
    ref = named(system, "f")
    ref.tell("fail")
    assert ref.ask("back", timeout=LIMIT_S) == "back"
    assert len(starts) == 2
    assert alive(supervisor) == ["f"]


def test_a_supervisor_of_a_users_own_kind_may_be_derived(system: ActorSystem) -> None:
    class Pool(Supervisor):
        def __init__(self, size: int) -> None:
            super().__init__([ChildSpec(Echo) for _ in range(size)])

    assert system.spawn(Pool, 3).count_children(timeout=LIMIT_S).active == 3


def test_an_actor_that_is_no_supervisor_has_no_children(system: ActorSystem) -> None:
    assert issubclass(Supervisor, Actor)
    cell: Any = system.spawn(Echo)._cell
    assert cell.children is None
