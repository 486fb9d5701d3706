"""Blocking actors: their own thread, batches, and what becomes of a batch that is cut off."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import pytest

from runtime import (
    ActorDeadError,
    ActorRef,
    ActorSystem,
    BlockingActor,
    Cancelled,
    ChildSpec,
    ChildStartError,
    MisuseError,
    Reply,
    Supervisor,
    Terminated,
)
from tests.runtime.players import (
    LIMIT_S,
    BlockingPlayer,
    Boom,
    Held,
    Player,
    StrictBlocking,
    fail,
    until,
)


@pytest.fixture(autouse=True)
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads take real time, so what is given up here is given up soon."""
    monkeypatch.setattr("runtime.ending.GRACE_S", 0.02)
    monkeypatch.setattr("runtime.blocking.GRACE_S", 0.02)


def held_back(system: ActorSystem, kind: type[Any] = BlockingPlayer) -> tuple[ActorRef[Any], Held]:
    """A blocking actor in the middle of a message, so that what follows crosses as one batch."""
    ref, held = system.spawn(kind), Held()
    ref.tell(held.work)
    held.wait()
    return ref, held


def hear(word: Any, heard: list[Any]) -> Callable[[Any], Any]:
    """A message that notes a word."""
    return lambda _: heard.append(word)


# -- the thread ------------------------------------------------------------------------------------


def test_hooks_and_handlers_run_on_one_thread_of_their_own(any_system: ActorSystem) -> None:
    threads: dict[str, int] = {}

    class Noting(BlockingActor):
        def on_start(self) -> None:
            threads["start"] = threading.get_ident()

        def on_receive(self, message: Any) -> None:
            threads["receive"] = threading.get_ident()

        def on_stop(self) -> None:
            threads["stop"] = threading.get_ident()

    ref = any_system.spawn(Noting)
    ref.ask(1, timeout=LIMIT_S)
    ref.stop(timeout=LIMIT_S)
    assert len(set(threads.values())) == 1
    assert threading.get_ident() not in threads.values()
    assert any_system.loop_thread.ident not in threads.values()


def test_a_blocked_actor_holds_up_nobody_else(any_system: ActorSystem) -> None:
    _, held = held_back(any_system)
    assert any_system.spawn(Player).ask(lambda _: "free", timeout=LIMIT_S) == "free"
    held.release()


def test_order_is_kept_and_every_message_is_handled_once(any_system: ActorSystem) -> None:
    heard: list[int] = []
    ref, held = held_back(any_system)
    for number in range(500):
        ref.tell(hear(number, heard))
    held.release()
    ref.stop(timeout=LIMIT_S)
    assert heard == list(range(500))


def test_a_stop_handles_what_was_told_before_it_also_while_the_actor_starts(
    system: ActorSystem,
) -> None:
    held, heard = Held(), list[Any]()

    class Slow(BlockingPlayer):
        def on_start(self) -> None:
            held.work()
            heard.append("started")

        def on_stop(self) -> None:
            heard.append("stopped")

    ref = system.spawn(Slow)
    ref.tell(hear("told", heard))
    stopped = ref.stop(block=False)
    held.wait()
    held.release()
    assert stopped.get(timeout=LIMIT_S)
    assert heard == ["started", "told", "stopped"]


def test_a_stop_now_lets_a_start_that_runs_end_and_calls_the_end_hook(system: ActorSystem) -> None:
    """A plain function cannot be cancelled; what it has opened has to be closed."""
    held, heard = Held(), list[Any]()

    class Slow(BlockingPlayer):
        def on_start(self) -> None:
            held.work()
            heard.append("opened")

        def on_stop(self) -> None:
            heard.append("closed")

    ref = system.spawn(Slow)
    held.wait()
    stopped = ref.stop(block=False, mode="now")
    held.release()
    assert stopped.get(timeout=LIMIT_S)
    assert heard == ["opened", "closed"]


# -- errors ----------------------------------------------------------------------------------------


def test_errors_go_to_the_asker_and_unasked_ones_fail_the_actor(any_system: ActorSystem) -> None:
    ref = any_system.spawn(BlockingPlayer)
    with pytest.raises(Boom):
        ref.ask(fail(), timeout=LIMIT_S)
    assert ref.ask(lambda _: "alive", timeout=LIMIT_S) == "alive"
    ref.tell(fail())
    until(lambda: not ref.is_alive())


def test_an_exception_that_is_returned_is_a_value(system: ActorSystem) -> None:
    answer = system.spawn(BlockingPlayer).ask(lambda _: Boom("a value"), timeout=LIMIT_S)
    assert isinstance(answer, Boom)


def test_what_comes_after_a_failure_waits_for_the_next_incarnation(any_system: ActorSystem) -> None:
    heard: list[str] = []
    supervisor = any_system.spawn(Supervisor)
    ref = supervisor.start_child(ChildSpec(StrictBlocking))
    held = Held()
    ref.tell(held.work)
    held.wait()
    ref.tell(hear("before", heard))
    ref.tell(fail())
    ref.tell(hear("after", heard))
    asked = ref.ask(id, block=False)
    first = id(ref._cell.current_instance)
    held.release()
    assert asked.get(timeout=LIMIT_S) != first
    assert heard == ["before", "after"]


@pytest.mark.parametrize("hook", ["on_receive", "on_start", "on_stop", "on_batch"])
def test_async_functions_are_refused_and_leave_no_coroutine(
    system: ActorSystem, hook: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def slow(*_: Any) -> None:
        raise AssertionError("never runs")

    kind: Any = type("Async", (BlockingActor,), {hook: slow})
    if hook == "on_start":
        with pytest.raises(ChildStartError, match="plain functions"):
            system.user.start_child(ChildSpec(kind), timeout=LIMIT_S)
        return
    ref = system.spawn(kind)
    if hook in ("on_receive", "on_batch"):
        with pytest.raises(MisuseError, match="plain functions"):
            ref.ask("x", timeout=LIMIT_S)
    ref.stop(timeout=LIMIT_S)
    assert ("end_hook_failed" in caplog.text) is (hook == "on_stop")


def test_an_async_on_restart_is_refused_and_leaves_no_coroutine(system: ActorSystem) -> None:
    class Async(StrictBlocking):
        async def on_restart(self, reason: Any) -> None:
            raise AssertionError("never runs")

    supervisor = system.spawn(Supervisor)
    ref = supervisor.start_child(ChildSpec(Async))
    ref.tell(fail())
    until(lambda: not supervisor.is_alive())


def test_background_work_is_refused(system: ActorSystem) -> None:
    async def work() -> None:
        raise AssertionError("never runs")

    with pytest.raises(MisuseError, match="off the loop"):
        system.spawn(BlockingPlayer).ask(lambda self: self.background(work()), timeout=LIMIT_S)


def test_an_actor_that_stops_or_fails_itself_on_its_thread(system: ActorSystem) -> None:
    heard: list[str] = []
    ref, held = held_back(system)
    ref.tell(lambda self: self.stop())
    ref.tell(hear("waited", heard))
    held.release()
    until(lambda: not ref.is_alive())
    assert heard == ["waited"]
    failing = system.spawn(BlockingPlayer)
    failing.tell(lambda self: self.fail(Boom()))
    until(lambda: not failing.is_alive())


def test_a_process_without_a_thread_to_give_fails_the_actor_and_loses_no_message(
    system: ActorSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    ref = system.spawn(BlockingPlayer)
    cell: Any = ref._cell
    until(lambda: cell.state == "running")
    performer = cell.performer

    class None_:
        def submit(self, *_: Any) -> Any:
            raise RuntimeError("can't start new thread")

    monkeypatch.setattr(type(performer), "_threads", lambda _: None_())
    asked = ref.ask(lambda _: 1, block=False)
    with pytest.raises(ActorDeadError):
        asked.get(timeout=LIMIT_S)


# -- batches ---------------------------------------------------------------------------------------


class Group(BlockingActor):
    """Notes its batches; a message `fail` has an error as outcome, `wrong` makes one outcome too few."""

    batch_limit: ClassVar[int] = 4
    batches: ClassVar[list[list[Any]]] = []

    def on_start(self) -> None:
        self.batches.clear()

    def on_batch(self, messages: Sequence[Any]) -> Sequence[Any]:
        self.batches.append(list(messages))
        for message in messages:
            if isinstance(message, Held):
                message.work()
        if "raise" in messages:
            raise Boom
        outcomes = [Boom() if message == "fail" else message for message in messages]
        return outcomes[1:] if "wrong" in messages else outcomes


class StrictGroup(Group):
    expected_errors = ()


def group_of(
    system: ActorSystem, messages: Sequence[Any], kind: type[Group] = Group
) -> tuple[ActorRef[Any], list[Reply[Any]]]:
    """A group actor to which the messages cross together."""
    ref, held = system.spawn(kind), Held()
    ref.tell(held)
    held.wait()
    replies = [ref.ask(message, block=False) for message in messages]
    held.release()
    return ref, replies


def test_a_batch_holds_what_waited_up_to_its_limit(any_system: ActorSystem) -> None:
    _, replies = group_of(any_system, range(10))
    assert [reply.get(timeout=LIMIT_S) for reply in replies] == list(range(10))
    assert Group.batches[1:] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_each_message_of_a_batch_has_its_own_outcome(system: ActorSystem) -> None:
    ref, replies = group_of(system, ["a", "fail", "b"])
    assert replies[0].get(timeout=LIMIT_S) == "a"
    with pytest.raises(Boom):
        replies[1].get(timeout=LIMIT_S)
    assert replies[2].get(timeout=LIMIT_S) == "b"
    assert ref.ask("c", timeout=LIMIT_S) == "c"


def test_an_error_as_outcome_that_is_not_expected_fails_the_actor_after_the_batch(
    system: ActorSystem,
) -> None:
    ref, replies = group_of(system, ["fail", "b"], StrictGroup)
    with pytest.raises(Boom):
        replies[0].get(timeout=LIMIT_S)
    assert replies[1].get(timeout=LIMIT_S) == "b"
    until(lambda: not ref.is_alive())


@pytest.mark.parametrize(("word", "error"), [("raise", Boom), ("wrong", MisuseError)])
def test_a_batch_that_fails_as_a_whole_is_everybodys_error(
    system: ActorSystem, word: str, error: type[Exception]
) -> None:
    _, replies = group_of(system, ["a", word])
    for reply in replies:
        with pytest.raises(error):
            reply.get(timeout=LIMIT_S)


def test_a_batch_limit_of_nothing_is_taken_as_one(system: ActorSystem) -> None:
    class Odd(Group):
        batch_limit = 0

    assert system.spawn(Odd).ask("x", timeout=LIMIT_S) == "x"


# -- cutting off -----------------------------------------------------------------------------------


def test_a_stop_now_buries_the_rest_of_a_batch(system: ActorSystem) -> None:
    heard: list[str] = []
    ref, first = held_back(system)
    second = Held()
    ref.tell(second.work)
    asked = ref.ask(hear("rest", heard), block=False)
    first.release()
    second.wait()
    stopped = ref.stop(block=False, mode="now")
    cell: Any = ref._cell
    until(lambda: cell.exit is not None)
    second.release()
    assert stopped.get(timeout=LIMIT_S)
    with pytest.raises(ActorDeadError):
        asked.get(timeout=LIMIT_S)
    assert heard == []
    assert system.dead_letters.count == 1


def test_a_message_taken_back_while_it_waits_in_a_batch_is_not_handled(system: ActorSystem) -> None:
    heard: list[str] = []
    ref, first = held_back(system)
    second = Held()
    ref.tell(second.work)
    asked = ref.ask(hear("taken back", heard), block=False)
    first.release()
    second.wait()
    assert asked.cancel()
    second.release()
    ref.stop(timeout=LIMIT_S)
    assert heard == []
    assert [letter.reason for letter in system.dead_letters.newest()] == ["cancelled"]
    with pytest.raises(Cancelled):
        asked.get(timeout=LIMIT_S)


def test_a_draining_stop_ends_although_all_that_waits_was_taken_back(system: ActorSystem) -> None:
    ref, held = held_back(system)
    for _ in range(5):
        ref.ask("x", block=False).cancel()
    stopped = ref.stop(block=False)
    cell: Any = ref._cell
    until(lambda: cell.exit is not None)
    held.release()
    assert stopped.get(timeout=LIMIT_S)


def test_stopping_itself_leaves_later_messages_to_the_next_incarnation(system: ActorSystem) -> None:
    """The batch before an end is no larger than what was to be handled before it."""
    ref = system.spawn(Supervisor).start_child(ChildSpec(BlockingPlayer))
    handled_by: list[Any] = []
    held, second = Held(), Held()

    def stop_and_wait(self: Any) -> None:
        self.stop()
        second.work()

    ref.tell(held.work)
    held.wait()
    first = ref._cell.current_instance
    ref.tell(stop_and_wait)
    held.release()
    second.wait()
    cell: Any = ref._cell
    until(lambda: cell.exit is not None)
    ref.tell(handled_by.append)
    second.release()
    later = ref.ask(lambda self: self, timeout=LIMIT_S)
    assert later is not first
    assert handled_by == [later]


def stuck_in(system: ActorSystem, **spec: Any) -> tuple[ActorRef[Any], Held]:
    """A blocking actor in a handler that ends only when it is let."""
    supervisor = system.spawn(Supervisor, name="sup")
    ref = supervisor.start_child(ChildSpec(StrictBlocking, name="stuck", **spec))
    held = Held()
    ref.tell(held.work)
    held.wait()
    return ref, held


def test_a_handler_that_never_ends_is_given_up_with_its_thread_and_named(
    system: ActorSystem,
) -> None:
    ref, held = stuck_in(system, shutdown=0)
    asked = ref.ask(lambda _: "never", block=False)
    assert ref.stop(mode="now", timeout=LIMIT_S)
    assert system.abandoned_work == ["/user/sup/stuck: handling a message"]
    with pytest.raises(ActorDeadError):
        asked.get(timeout=LIMIT_S)
    held.release()


def test_the_rest_of_a_batch_that_was_given_up_is_buried_and_its_asker_told(
    system: ActorSystem,
) -> None:
    heard: list[str] = []
    ref, first = stuck_in(system, shutdown=0)
    second = Held()
    running = ref.ask(second.work, block=False)
    waiting = ref.ask(hear("rest", heard), block=False)
    ref.tell(hear("rest", heard))
    first.release()
    second.wait()
    assert ref.stop(mode="now", timeout=LIMIT_S)
    for reply in (running, waiting):
        with pytest.raises(ActorDeadError):
            reply.get(timeout=LIMIT_S)
    second.release()
    assert system.dead_letters.count == 2
    assert heard == []


def test_the_rest_of_a_batch_given_up_for_a_restart_is_handled_by_the_next_incarnation(
    system: ActorSystem,
) -> None:
    ref, first = stuck_in(system, shutdown=0)
    second = Held()
    running = ref.ask(second.work, block=False)
    waiting = ref.ask(lambda _: "handled", block=False)
    first.release()
    second.wait()
    supervisor = system.registry.get("sup")
    assert supervisor is not None
    supervisor.restart_child("stuck", timeout=LIMIT_S)
    assert waiting.get(timeout=LIMIT_S) == "handled"
    with pytest.raises(ActorDeadError):
        running.get(timeout=LIMIT_S)
    second.release()


def test_no_end_hook_runs_beside_a_handler_that_was_given_up(system: ActorSystem) -> None:
    """One instance is never run by two threads at the same time."""
    hooks: list[str] = []

    class Hooked(BlockingPlayer):
        def on_stop(self) -> None:
            hooks.append("stop")

    ref = system.spawn(Hooked, shutdown=0)
    held = Held()
    ref.tell(held.work)
    held.wait()
    assert ref.stop(mode="now", timeout=LIMIT_S)
    held.release()
    assert hooks == []


def test_an_end_hook_that_never_ends_is_given_up_and_named(system: ActorSystem) -> None:
    held = Held()

    class Hooked(BlockingPlayer):
        def on_stop(self) -> None:
            held.work()

    ref = system.spawn(Hooked, name="hooked", shutdown=0)
    assert ref.stop(timeout=LIMIT_S)
    assert system.abandoned_work == ["/user/hooked: its end hook"]
    held.release()


def test_a_start_that_never_ends_is_given_up_and_its_late_instance_is_nobodys(
    system: ActorSystem,
) -> None:
    held = Held()
    made: list[Any] = []

    class Slow(StrictBlocking):
        def __init__(self) -> None:
            super().__init__()
            made.append(self)
            if len(made) == 2:
                held.work()

    supervisor = system.spawn(Supervisor, name="sup")
    ref = supervisor.start_child(ChildSpec(Slow, name="slow", shutdown=0))
    ref.tell(fail())
    held.wait()
    assert supervisor.restart_child("slow", timeout=LIMIT_S) == ref
    assert system.abandoned_work == ["/user/sup/slow: starting"]
    held.release()
    assert ref.ask(lambda self: self, timeout=LIMIT_S) is made[2]


def test_a_watch_notice_crosses_like_a_message(system: ActorSystem) -> None:
    seen: Reply[Any] = Reply()

    class Watcher(BlockingActor):
        def __init__(self, target: ActorRef[Any]) -> None:
            super().__init__()
            self.target = target

        def on_start(self) -> None:
            self.watch(self.target)

        def on_receive(self, message: Any) -> None:
            seen.settle(message)

    target = system.spawn(Player)
    system.spawn(Watcher, target).ask("started", block=False)
    seen_first = seen.get(timeout=LIMIT_S)
    assert seen_first == "started"
    seen = Reply()
    target.stop(timeout=LIMIT_S)
    notice = seen.get(timeout=LIMIT_S)
    assert isinstance(notice, Terminated)
    assert notice.ref == target
