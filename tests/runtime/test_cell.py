"""One actor's life: hooks that fail, stops that drain or cut, and control that stays with its incarnation."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest

from runtime import (
    Actor,
    ActorDeadError,
    ActorFailed,
    ActorRef,
    ActorStopped,
    ActorSystem,
    BlockingCallOnLoop,
    Cancelled,
    ChildSpec,
    ChildStartError,
    MisuseError,
    Reply,
    Supervisor,
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
    in_thread,
    until,
)


def restartable(system: ActorSystem, kind: type[Actor], *args: Any) -> ActorRef[Any]:
    """A permanent child of a supervisor that restarts it as often as asked."""
    supervisor = system.spawn(Supervisor, max_restarts=1000, window=1.0)
    return supervisor.start_child(ChildSpec(kind, args))


# -- failing in a hook -----------------------------------------------------------------------------


def test_an_error_in_init_goes_to_the_caller_of_spawn_and_the_name_is_free_again(
    any_system: ActorSystem,
) -> None:
    class Picky(Player):
        def __init__(self, error: BaseException | None = None) -> None:
            super().__init__()
            if error is not None:
                raise error

    with pytest.raises(Boom):
        any_system.spawn(Picky, Boom(), name="picky")
    assert any_system.registry.get("picky") is None
    assert any_system.spawn(Picky, name="picky").ask(lambda _: 1, timeout=LIMIT_S) == 1


def test_what_an_init_that_raises_had_begun_ends(virtual: VirtualSystem) -> None:
    watched = virtual.spawn(Echo)

    class Busy(Player):
        def __init__(self) -> None:
            super().__init__()
            self.actor_ref.tell("to itself")
            self.send_every(1.0, "tick")
            self.watch(watched)
            raise Boom

    with pytest.raises(Boom):
        virtual.spawn(Busy)
    virtual.advance(10)
    assert [letter.message for letter in virtual.dead_letters.newest()] == ["to itself"]
    cell: Any = watched._cell
    assert not cell.watchers


@pytest.mark.parametrize("slow", [False, True], ids=["sync", "async"])
def test_an_error_in_on_start_fails_the_start_and_calls_no_end_hook(
    any_system: ActorSystem, slow: bool
) -> None:
    notes: list[str] = []

    class Bad(Noted):
        def on_start(self) -> Any:
            async def later() -> None:
                raise Boom

            if slow:
                return later()
            raise Boom

    supervisor = any_system.spawn(Supervisor)
    with pytest.raises(ChildStartError) as failed:
        supervisor.start_child(ChildSpec(Bad, ("bad", notes), name="bad"), timeout=LIMIT_S)
    assert isinstance(failed.value.__cause__, Boom)
    assert notes == []
    assert any_system.registry.get("bad") is None
    assert supervisor.count_children(timeout=LIMIT_S).specs == 0


def test_messages_to_an_actor_whose_start_fails_become_dead_letters(system: ActorSystem) -> None:
    held = Held()

    class Bad(Player):
        async def on_start(self) -> None:
            await held.awork()
            raise Boom

    ref = system.spawn(Bad)
    ref.tell("told")
    asked = ref.ask("asked", block=False)
    held.release()
    with pytest.raises(ActorDeadError):
        asked.get(timeout=LIMIT_S)
    until(lambda: system.dead_letters.count == 2)
    with pytest.raises(ActorDeadError):
        ref.tell("late")


@pytest.mark.parametrize("slow", [False, True], ids=["sync", "async"])
def test_an_error_in_on_stop_is_logged_and_the_stop_goes_on(
    any_system: ActorSystem, slow: bool, caplog: pytest.LogCaptureFixture
) -> None:
    class Bad(Player):
        def on_stop(self) -> Any:
            async def later() -> None:
                raise Boom("at the end")

            if slow:
                return later()
            raise Boom("at the end")

    ref = any_system.spawn(Bad)
    assert ref.stop(timeout=LIMIT_S)
    assert not ref.is_alive()
    assert "end_hook_failed" in caplog.text
    assert "at the end" in caplog.text


@pytest.mark.parametrize("slow", [False, True], ids=["sync", "async"])
def test_an_error_in_on_failure_is_logged_and_the_first_one_stays_the_reason(
    any_system: ActorSystem, slow: bool, caplog: pytest.LogCaptureFixture
) -> None:
    class Bad(Strict):
        def on_failure(self, *_: Any) -> Any:
            async def later() -> None:
                raise ValueError("in the hook")

            if slow:
                return later()
            raise ValueError("in the hook")

    stopped: Reply[ActorStopped] = Reply()
    any_system.events.subscribe(stopped.set, ActorStopped)
    any_system.spawn(Bad).tell(fail())
    assert isinstance(stopped.get(timeout=LIMIT_S).reason, Boom)
    assert "in the hook" in caplog.text


@pytest.mark.parametrize("hook", ["on_restart", "on_start", "__init__"])
@pytest.mark.parametrize("slow", [False, True], ids=["sync", "async"])
def test_an_error_in_a_restart_counts_as_one_more_failure(
    any_system: ActorSystem, hook: str, slow: bool
) -> None:
    attempts: list[int] = []

    def bad(*_: Any) -> Any:
        attempts.append(1)

        async def later() -> None:
            if len(attempts) in (2, 3):
                raise Boom

        if slow and hook != "__init__":
            return later()
        if len(attempts) in (2, 3):
            raise Boom
        return None

    kind = type("Bad", (Strict,), {hook: bad})
    ref = restartable(any_system, kind)
    if hook == "on_restart":
        attempts.append(1)
    ref.tell(fail())
    assert ref.ask(lambda _: "back", timeout=LIMIT_S) == "back"
    assert len(attempts) == 4


def test_an_async_on_restart_runs_before_on_start(system: ActorSystem) -> None:
    notes: list[str] = []

    class Slow(Noted):
        async def on_restart(self, reason: Any) -> None:
            await asyncio.sleep(0)
            self.note(f"restart for {reason}")

        async def on_start(self) -> None:
            await asyncio.sleep(0)
            self.note("start")

    ref = restartable(system, Slow, "x", notes)
    ref.tell(fail())
    ref.ask(lambda _: 1, timeout=LIMIT_S)
    assert notes == ["start x", "fail x", "restart for as told x", "start x"]


# -- failing in a handler --------------------------------------------------------------------------


@pytest.mark.parametrize("slow", [False, True], ids=["sync", "async"])
def test_an_error_of_an_asked_handler_goes_to_the_asker_and_the_actor_lives(
    any_system: ActorSystem, slow: bool
) -> None:
    async def later(_: Any) -> None:
        raise Boom

    ref = any_system.spawn(Player)
    with pytest.raises(Boom):
        ref.ask(later if slow else fail(), timeout=LIMIT_S)
    assert ref.ask(lambda _: "alive", timeout=LIMIT_S) == "alive"


@pytest.mark.parametrize("slow", [False, True], ids=["sync", "async"])
def test_an_error_that_is_not_expected_goes_to_the_asker_and_fails_the_actor(
    any_system: ActorSystem, slow: bool
) -> None:
    async def later(_: Any) -> None:
        raise Boom

    failed: Reply[ActorFailed] = Reply()
    any_system.events.subscribe(failed.set, ActorFailed)
    ref = any_system.spawn(Strict)
    with pytest.raises(Boom):
        ref.ask(later if slow else fail(), timeout=LIMIT_S)
    assert isinstance(failed.get(timeout=LIMIT_S).error, Boom)
    until(lambda: not ref.is_alive())


def test_fail_ends_the_actor_after_the_present_message(system: ActorSystem) -> None:
    notes: list[str] = []
    ref = system.spawn(Noted, "x", notes)

    def fail_and_go_on(self: Any) -> str:
        self.fail(Boom())
        self.note("still here")
        return "answered"

    assert ref.ask(fail_and_go_on, timeout=LIMIT_S) == "answered"
    until(lambda: not ref.is_alive())
    assert notes == ["start x", "still here x", "fail x"]


def test_a_told_message_whose_work_was_cancelled_from_elsewhere_fails_the_actor(
    any_system: ActorSystem,
) -> None:
    """Else the message would have no fate at all."""

    async def wait_for_cancelled(_: Any) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        future.cancel()
        await future

    failed: Reply[ActorFailed] = Reply()
    any_system.events.subscribe(failed.set, ActorFailed)
    ref = any_system.spawn(Player)
    with pytest.raises(Cancelled):
        ref.ask(wait_for_cancelled, timeout=LIMIT_S)
    ref.tell(wait_for_cancelled)
    assert isinstance(failed.get(timeout=LIMIT_S).error, Cancelled)


def test_a_plain_handler_that_raises_cancelled_error_does_not_stop_the_system(
    system: ActorSystem,
) -> None:
    ref = system.spawn(Player)
    with pytest.raises(Cancelled):
        ref.ask(fail(asyncio.CancelledError()), timeout=LIMIT_S)
    assert system.failure is None
    assert ref.ask(lambda _: "alive", timeout=LIMIT_S) == "alive"


# -- stopping --------------------------------------------------------------------------------------


@pytest.mark.parametrize("slow", [False, True], ids=["sync", "async"])
def test_a_stop_handles_what_was_told_before_it(any_system: ActorSystem, slow: bool) -> None:
    heard: list[int] = []

    def hear(number: int) -> Callable[[Any], Any]:
        async def later(_: Any) -> None:
            await asyncio.sleep(0)
            heard.append(number)

        return later if slow else lambda _: heard.append(number)

    ref = any_system.spawn(Player)
    for number in range(200):
        ref.tell(hear(number))
    assert ref.stop(timeout=LIMIT_S)
    assert heard == list(range(200))


def test_a_stop_waits_for_a_slow_start_and_handles_what_was_told_before_it(
    any_system: ActorSystem,
) -> None:
    held, notes = Held(), list[str]()

    class Slow(Noted):
        async def on_start(self) -> None:
            await held.awork()
            self.note("start")

    ref = any_system.spawn(Slow, "x", notes)
    ref.tell(lambda self: self.note("told"))
    stopped = ref.stop(block=False)
    held.wait()
    held.release()
    assert stopped.get(timeout=LIMIT_S)
    assert notes == ["start x", "told x", "stop x"]


def test_a_stop_now_breaks_a_slow_start_off_and_buries_what_waits(
    any_system: ActorSystem,
) -> None:
    held = Held()

    class Slow(Player):
        async def on_start(self) -> None:
            await held.awork()

    ref = any_system.spawn(Slow)
    ref.tell("waits")
    held.wait()
    assert ref.stop(mode="now", timeout=LIMIT_S)
    assert any_system.dead_letters.count == 1


def test_a_stop_now_buries_what_waits_and_gives_the_running_handler_its_time(
    virtual: VirtualSystem,
) -> None:
    ended: list[str] = []

    async def work(_: Any) -> str:
        try:
            await asyncio.sleep(4.0)
        except asyncio.CancelledError:
            ended.append("cut")
            raise
        return "in time"

    async def too_long(_: Any) -> None:
        try:
            await asyncio.sleep(6.0)
        finally:
            ended.append("cut")

    ref, slow = virtual.spawn(Player), virtual.spawn(Player)
    in_time, late = ref.ask(work, block=False), slow.ask(too_long, block=False)
    waiting = ref.ask(lambda _: 1, block=False)
    virtual.settle()
    stopped = ref.stop(block=False, mode="now")
    other = slow.stop(block=False, mode="now")
    virtual.advance(4.5)
    assert in_time.get(timeout=LIMIT_S) == "in time"
    assert stopped.get(timeout=LIMIT_S)
    with pytest.raises(ActorDeadError):
        waiting.get(timeout=LIMIT_S)
    assert not other.done()
    virtual.advance(1.0)
    with pytest.raises(ActorDeadError, match="stopped while handling"):
        late.get(timeout=LIMIT_S)
    assert other.get(timeout=LIMIT_S)
    assert ended == ["cut"]


def test_cancel_on_stop_cuts_the_running_handler_at_once(virtual: VirtualSystem) -> None:
    class Quick(Player):
        cancel_on_stop = True

    ref = virtual.spawn(Quick)
    asked = ref.ask(lambda _: asyncio.sleep(3600), block=False)
    virtual.settle()
    ref.stop(mode="now", block=False)
    virtual.settle()
    assert isinstance(asked.exception(), ActorDeadError)
    assert virtual.clock() == 0


def test_a_handler_that_is_cut_knows_whether_its_actor_is_stopping(virtual: VirtualSystem) -> None:
    class Quick(Player):
        cancel_on_stop = True

    cut: list[bool] = []

    async def note(actor: Any) -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            cut.append(actor.stopping)

    ref = virtual.spawn(Quick)
    ref.ask(note, block=False).cancel()
    virtual.settle()
    gone = ref.ask(note, block=False)
    virtual.settle()
    gone.cancel()
    virtual.settle()
    ref.ask(note, block=False)
    virtual.settle()
    ref.stop(mode="now", block=False)
    virtual.settle()
    assert cut == [False, True]


def test_a_handler_that_suppresses_its_cancellation_is_given_up_and_named(
    virtual: VirtualSystem,
) -> None:
    held = Held()

    async def stubborn(_: Any) -> None:
        held.begun.settle()
        while not held.let_go.is_set():
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                if held.let_go.is_set():
                    raise

    ref = virtual.spawn(Player, name="stubborn")
    asked = ref.ask(stubborn, block=False)
    held.wait()
    stopped = ref.stop(mode="now", block=False)
    virtual.advance(7.0)
    assert stopped.get(timeout=LIMIT_S)
    with pytest.raises(ActorDeadError):
        asked.get(timeout=LIMIT_S)
    assert virtual.abandoned_work == ["/user/stubborn: handling a message"]
    held.let_go.set()


def test_the_error_of_a_handler_that_was_given_up_is_not_lost_as_a_warning(
    virtual: VirtualSystem,
) -> None:
    async def stubborn(_: Any) -> None:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            await asyncio.sleep(10)
            raise Boom from None

    ref = virtual.spawn(Player)
    ref.tell(stubborn)
    virtual.settle()
    ref.stop(mode="now", block=False)
    virtual.advance(60)
    assert not ref.is_alive()


def test_an_end_hook_that_never_ends_is_cancelled_and_one_that_resists_is_named(
    virtual: VirtualSystem,
) -> None:
    ended: list[str] = []

    class Slow(Player):
        async def on_stop(self) -> None:
            try:
                await asyncio.sleep(3600)
            finally:
                ended.append("cancelled")

    class Stubborn(Player):
        async def on_stop(self) -> None:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                await asyncio.sleep(10)

    slow, stubborn = virtual.spawn(Slow), virtual.spawn(Stubborn, name="stubborn")
    both = [slow.stop(block=False), stubborn.stop(block=False)]
    virtual.advance(6.5)
    assert all(reply.get(timeout=LIMIT_S) for reply in both)
    assert ended == ["cancelled"]
    assert virtual.abandoned_work == ["/user/stubborn: its end hook"]
    virtual.advance(60)


def test_a_stop_during_a_handler_that_then_fails_ends_the_actor_for_good(
    system: ActorSystem,
) -> None:
    """Final is stronger than a failure: the supervisor has nothing to decide."""
    held = Held()
    ref = restartable(system, Strict)

    async def work(_: Any) -> None:
        await held.awork()
        raise Boom

    ref.tell(work)
    held.wait()
    stopped = ref.stop(block=False)
    held.release()
    assert stopped.get(timeout=LIMIT_S)
    assert not ref.is_alive()


def test_a_second_stop_is_told_of_the_first_ones_end_and_a_third_that_there_was_nothing(
    system: ActorSystem,
) -> None:
    held = Held()
    ref = system.spawn(Player)
    ref.tell(held.awork)
    first, second = ref.stop(block=False), ref.stop(block=False)
    held.release()
    assert first.get(timeout=LIMIT_S)
    assert second.get(timeout=LIMIT_S)
    assert ref.stop(timeout=LIMIT_S) is False


def test_a_draining_stop_turns_into_one_at_once(virtual: VirtualSystem) -> None:
    ref = virtual.spawn(Player)
    handled: list[int] = []
    ref.tell(lambda _: asyncio.sleep(3600))
    ref.tell(lambda _: handled.append(1))
    virtual.settle()
    drained = ref.stop(block=False)
    virtual.advance(10)
    assert not drained.done()
    ref.stop(mode="now", block=False)
    virtual.advance(6)
    assert drained.get(timeout=LIMIT_S)
    assert handled == []


def test_a_blocking_stop_on_the_loop_is_refused(system: ActorSystem) -> None:
    other = system.spawn(Echo)
    with pytest.raises(BlockingCallOnLoop, match="astop"):
        system.spawn(Player).ask(lambda _: other.stop(), timeout=LIMIT_S)


def test_an_actor_stops_itself_after_what_waits(system: ActorSystem) -> None:
    notes: list[str] = []
    held = Held()
    ref = system.spawn(Noted, "x", notes)
    ref.tell(held.awork)
    held.wait()
    ref.tell(lambda self: self.stop())
    ref.tell(lambda self: self.note("waited"))
    held.release()
    until(lambda: "stop x" in notes)
    assert notes == ["start x", "waited x", "stop x"]


def test_stopping_itself_in_on_start_handles_nothing_after(system: ActorSystem) -> None:
    notes: list[str] = []

    class Brief(Noted):
        def on_start(self) -> None:
            super().on_start()
            self.stop()

    ref = system.spawn(Brief, "x", notes)
    until(lambda: not ref.is_alive() and len(notes) == 2)
    assert notes == ["start x", "stop x"]


def test_a_message_to_a_dead_actor_raises_and_is_a_dead_letter(any_system: ActorSystem) -> None:
    ref = any_system.spawn(Echo)
    ref.stop(timeout=LIMIT_S)
    with pytest.raises(ActorDeadError, match="has stopped"):
        ref.tell("told")
    with pytest.raises(ActorDeadError):
        ref.ask("asked", timeout=LIMIT_S)
    with pytest.raises(ActorDeadError):
        ref.ask("asked", block=False).get(timeout=LIMIT_S)
    assert [letter.message for letter in any_system.dead_letters.newest()] == [
        "told",
        "asked",
        "asked",
    ]


# -- incarnations ----------------------------------------------------------------------------------


def test_messages_wait_over_a_restart_and_the_failing_one_is_not_retried(
    any_system: ActorSystem,
) -> None:
    heard: list[str] = []
    held = Held()
    ref = restartable(any_system, Strict)
    ref.tell(held.awork)
    held.wait()

    def failing(_: Any) -> None:
        heard.append("failing")
        raise Boom

    ref.tell(failing)
    ref.tell(lambda _: heard.append("after"))
    held.release()
    assert ref.ask(lambda _: "answered", timeout=LIMIT_S) == "answered"
    assert heard == ["failing", "after"]


def test_messages_to_a_restarting_actor_wait(any_system: ActorSystem) -> None:
    starts: list[int] = []
    held = Held()

    class Slow(Strict):
        async def on_start(self) -> None:
            starts.append(1)
            if len(starts) > 1:
                await held.awork()

    ref = restartable(any_system, Slow)
    ref.tell(fail())
    held.wait()
    assert ref.is_alive()
    asked = ref.ask(lambda _: "answered", block=False)
    held.release()
    assert asked.get(timeout=LIMIT_S) == "answered"


def test_a_stop_for_one_incarnation_does_not_reach_the_next(system: ActorSystem) -> None:
    """The actor stops itself, and fails before it has stopped."""
    ref = restartable(system, Strict)

    def stop_and_fail(self: Any) -> None:
        self.stop()
        raise Boom

    ref.tell(stop_and_fail)
    assert ref.ask(lambda _: "second", timeout=LIMIT_S) == "second"
    assert ref.ask(lambda _: "lives on", timeout=LIMIT_S) == "lives on"


def test_a_request_on_its_way_when_its_incarnation_ends_is_dropped(system: ActorSystem) -> None:
    """A thread asks the actor to stop; before the loop sees that, the actor fails and is restarted."""
    ref = restartable(system, Strict)

    def fail_while_a_thread_asks(self: Any) -> None:
        in_thread(self.stop).done()
        until(lambda: len(system.loop_thread.posted) > 0)
        self.fail(Boom())

    ref.tell(fail_while_a_thread_asks)
    assert ref.ask(lambda _: "second", timeout=LIMIT_S) == "second"
    assert ref.ask(lambda _: "lives on", timeout=LIMIT_S) == "lives on"


def test_code_of_an_ended_incarnation_can_ask_nothing_of_the_next(system: ActorSystem) -> None:
    ref = restartable(system, Strict)
    old = ref.ask(lambda self: self, timeout=LIMIT_S)
    ref.tell(fail())
    new = ref.ask(lambda self: self, timeout=LIMIT_S)
    assert new is not old

    async def work() -> None:
        raise AssertionError("never runs")

    for use in (
        old.stop,
        lambda: old.fail(Boom()),
        lambda: old.send_after(0, "x"),
        lambda: old.watch(ref),
        lambda: old.background(work()),
    ):
        with pytest.raises(ActorDeadError, match="incarnation"):
            use()
    assert ref.ask(lambda self: self, timeout=LIMIT_S) is new


def test_a_stop_that_comes_while_the_actor_restarts_ends_it_for_good(
    any_system: ActorSystem,
) -> None:
    held, starts = Held(), list[int]()

    class Slow(Strict):
        async def on_start(self) -> None:
            starts.append(1)
            if len(starts) > 1:
                await held.awork()

    ref = restartable(any_system, Slow)
    ref.tell(fail())
    held.wait()
    assert ref.stop(mode="now", timeout=LIMIT_S)
    assert not ref.is_alive()
    assert len(starts) == 2


def test_a_signal_reaches_a_waiting_handler_and_not_a_later_incarnation(
    any_system: ActorSystem,
) -> None:
    class Signalled(Strict):
        def __init__(self) -> None:
            super().__init__()
            self.seen: list[Any] = []

        def on_signal(self, signal: Any) -> None:
            self.seen.append(signal)

    held = Held()
    ref = restartable(any_system, Signalled)
    asked = ref.ask(held.awork, block=False)
    held.wait()
    ref.signal("now")
    seen = ref._cell.current_instance.seen
    until(lambda: seen == ["now"])
    held.release()
    asked.get(timeout=LIMIT_S)
    ref.tell(fail())
    assert ref.ask(lambda self: self.seen, timeout=LIMIT_S) == []


def test_a_signal_that_raises_fails_the_actor(system: ActorSystem) -> None:
    class Bad(Player):
        def on_signal(self, signal: Any) -> None:
            raise Boom

    ref = system.spawn(Bad)
    ref.signal("x")
    until(lambda: not ref.is_alive())


def test_a_signal_to_a_dead_actor_is_nothing(system: ActorSystem) -> None:
    ref = system.spawn(Player)
    ref.stop(timeout=LIMIT_S)
    ref.signal("late")


# -- misuse ----------------------------------------------------------------------------------------


def test_an_actor_made_by_hand_says_how_it_is_started() -> None:
    with pytest.raises(MisuseError, match=r"system\.spawn\(Echo"):
        Echo().stop()
    with pytest.raises(MisuseError, match="spawn"):
        Echo._create_actor_inbox()
    assert "not started" in str(Echo())


def test_background_work_from_another_thread_is_refused_and_leaves_no_coroutine(
    system: ActorSystem,
) -> None:
    actor = system.spawn(Player).ask(lambda self: self, timeout=LIMIT_S)

    async def work() -> None:
        raise AssertionError("never runs")

    with pytest.raises(MisuseError, match="off the loop"):
        actor.background(work())
    with pytest.raises(MisuseError, match="by hand"):
        Player().background(work())


def test_background_work_begun_by_the_end_hook_is_refused(system: ActorSystem) -> None:
    refused: list[BaseException] = []

    async def work() -> None:
        raise AssertionError("never runs")

    class Late(Player):
        def on_stop(self) -> None:
            try:
                self.background(work())
            except ActorDeadError as error:
                refused.append(error)

    system.spawn(Late).stop(timeout=LIMIT_S)
    assert len(refused) == 1


def test_an_unexpected_message_is_logged(
    system: ActorSystem, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "greenroom"):
        assert system.spawn(Actor).ask("what is this", timeout=LIMIT_S) is None
    assert "unexpected_message" in caplog.text


def test_refs_are_equal_when_they_mean_the_same_actor(system: ActorSystem) -> None:
    ref = system.spawn(Player, name="one")
    again = ref.ask(lambda self: self.actor_ref, timeout=LIMIT_S)
    other = system.spawn(Player)
    assert again == ref
    assert hash(again) == hash(ref)
    assert other != ref
    assert str(ref) == ref.path == ref.actor_urn == "/user/one"
    assert ref.actor_class is Player


def test_a_message_to_a_failed_actor_is_told_what_it_failed_with(system: ActorSystem) -> None:
    ref = system.spawn(Failing)
    ref.tell("fail")
    watch = ref.ask("too late", block=False)
    with pytest.raises(ActorDeadError, match=r"was not restarted \(ValueError\('on purpose'\)\)"):
        watch.get(timeout=5)


class Failing(Actor):
    def on_receive(self, message: Any) -> None:
        raise ValueError("on purpose")
