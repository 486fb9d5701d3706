"""Background work: answers later, fails with and without an asker, ends with its incarnation."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from runtime import (
    ActorDeadError,
    ActorFailed,
    ActorSystem,
    Cancelled,
    ChildSpec,
    Reply,
    Supervisor,
)
from runtime.testing import VirtualSystem
from tests.runtime.players import LIMIT_S, Boom, Held, Player, Strict, fail, until


async def break_down() -> None:
    """Work that fails."""
    raise Boom


def test_work_answers_its_asker_later_and_the_mailbox_goes_on(any_system: ActorSystem) -> None:
    ref, held = any_system.spawn(Player), Held()
    later = ref.ask(lambda self: self.background(held.awork()), block=False)
    assert ref.ask(lambda _: "meanwhile", timeout=LIMIT_S) == "meanwhile"
    held.release()
    assert later.get(timeout=LIMIT_S) == "done"


def test_an_async_handler_may_hand_its_answer_to_work_too(system: ActorSystem) -> None:
    ref, held = system.spawn(Player), Held()

    async def hand_over(self: Any) -> Any:
        await asyncio.sleep(0)
        return self.background(held.awork())

    later = ref.ask(hand_over, block=False)
    held.release()
    assert later.get(timeout=LIMIT_S) == "done"


def test_an_error_of_work_goes_to_its_asker_and_the_actor_lives(any_system: ActorSystem) -> None:
    ref = any_system.spawn(Player)
    with pytest.raises(Boom):
        ref.ask(lambda self: self.background(break_down()), timeout=LIMIT_S)
    assert ref.ask(lambda _: "alive", timeout=LIMIT_S) == "alive"


def test_an_error_of_work_that_is_not_expected_fails_the_actor_as_well(
    system: ActorSystem,
) -> None:
    ref = system.spawn(Strict)
    with pytest.raises(Boom):
        ref.ask(lambda self: self.background(break_down()), timeout=LIMIT_S)
    until(lambda: not ref.is_alive())


def test_an_error_of_work_nobody_asked_for_fails_the_actor(any_system: ActorSystem) -> None:
    failed: Reply[Any] = Reply()
    any_system.events.subscribe(failed.set, ActorFailed)
    ref = any_system.spawn(Player)
    ref.tell(lambda self: self.background(break_down()))
    assert isinstance(failed.get(timeout=LIMIT_S).error, Boom)


def test_work_ends_with_its_incarnation_and_its_asker_is_told(any_system: ActorSystem) -> None:
    ref = any_system.spawn(Supervisor).start_child(ChildSpec(Strict))
    held = Held()
    later = ref.ask(lambda self: self.background(held.awork()), block=False)
    held.wait()
    ref.tell(fail())
    with pytest.raises(ActorDeadError, match="incarnation"):
        later.get(timeout=LIMIT_S)
    assert isinstance(held.free.exception(), Cancelled)
    assert ref.ask(lambda _: "next", timeout=LIMIT_S) == "next"


def test_the_end_hook_runs_after_work_has_ended(virtual: VirtualSystem) -> None:
    notes: list[str] = []

    class Tidy(Player):
        def on_stop(self) -> None:
            notes.append("hook")

    async def work() -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            await asyncio.sleep(1)
            notes.append("work")

    ref = virtual.spawn(Tidy)
    ref.tell(lambda self: self.background(work()))
    virtual.settle()
    ref.stop(timeout=LIMIT_S)
    assert notes == ["work", "hook"]


def test_work_that_resists_is_abandoned_and_named(virtual: VirtualSystem) -> None:
    async def stubborn() -> None:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            await asyncio.sleep(60)

    ref = virtual.spawn(Player, name="x")
    ref.tell(lambda self: self.background(stubborn()))
    virtual.settle()
    ref.stop(timeout=LIMIT_S)
    assert len(virtual.abandoned_work) == 1
    assert virtual.abandoned_work[0].startswith("/user/x: background task")
    virtual.advance(100)


def test_the_error_of_work_that_ended_with_its_incarnation_fails_nobody(
    virtual: VirtualSystem,
) -> None:
    async def bitter() -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            raise Boom

    supervisor = virtual.spawn(Supervisor, max_restarts=1, window=1000.0)
    ref = supervisor.start_child(ChildSpec(Strict))
    ref.tell(lambda self: self.background(bitter()))
    virtual.settle()
    ref.tell(fail())
    assert ref.ask(lambda _: "next", timeout=LIMIT_S) == "next"
    virtual.settle()
    assert supervisor.is_alive()


def test_work_cancelled_by_itself_answers_cancelled(system: ActorSystem) -> None:
    async def give_up() -> None:
        raise asyncio.CancelledError

    ref = system.spawn(Player)
    with pytest.raises(Cancelled):
        ref.ask(lambda self: self.background(give_up()), timeout=LIMIT_S)


def test_work_cancelled_before_it_began_leaves_no_warning(system: ActorSystem) -> None:
    ref = system.spawn(Player)

    def begin_and_cancel(self: Any) -> None:
        self.background(asyncio.sleep(3600)).cancel()

    ref.ask(begin_and_cancel, timeout=LIMIT_S)
    ref.stop(timeout=LIMIT_S)


def test_much_work_at_once_is_all_answered(any_system: ActorSystem) -> None:
    ref = any_system.spawn(Player)

    async def work(number: int) -> int:
        await asyncio.sleep(0)
        return number

    replies = [
        ref.ask(lambda self, n=number: self.background(work(n)), block=False)
        for number in range(200)
    ]
    assert [reply.get(timeout=LIMIT_S) for reply in replies] == list(range(200))


def test_what_is_no_coroutine_is_refused_and_leaves_nothing(system: ActorSystem) -> None:
    ref = system.spawn(Player)
    with pytest.raises(TypeError):
        ref.ask(lambda self: self.background("no coroutine"), timeout=LIMIT_S)
    cell: Any = ref._cell
    assert cell.belongings is None or not cell.belongings.tasks
