"""The wait graph: a ring of asks is refused at once, in any order of arrival, and shows the ring."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from typing import Any

import pytest

from runtime import ActorRef, ActorSystem, AskCycle, ChildSpec, Reply, Supervisor
from runtime.waits import enter_wait, leave_wait
from tests.runtime.players import LIMIT_S, BlockingPlayer, Echo, Player, asking, in_thread


class Node:
    """An activity without an actor."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.awaiting: Any = None


# -- the graph itself ------------------------------------------------------------------------------


def test_a_ring_of_any_length_is_found_and_shown() -> None:
    for length in (1, 2, 3, 10):
        nodes = [Node(f"/{number}") for number in range(length)]
        for number, node in enumerate(nodes[:-1]):
            enter_wait(node, Reply(nodes[number + 1]))
        with pytest.raises(AskCycle) as refused:
            enter_wait(nodes[-1], Reply(nodes[0]))
        paths = [f"/{number}" for number in range(length)]
        assert list(refused.value.ring) == [paths[-1], *paths]
        assert nodes[-1].awaiting is None


def test_a_diamond_is_no_ring() -> None:
    top, left, right, bottom = (Node(name) for name in "tlrb")
    enter_wait(top, Reply(left))
    enter_wait(top, Reply(right))
    enter_wait(left, Reply(bottom))
    enter_wait(right, Reply(bottom))


def test_a_wait_that_was_left_closes_no_ring() -> None:
    first, second = Node("1"), Node("2")
    reply: Reply[int] = Reply(second)
    enter_wait(first, reply)
    leave_wait(first, reply)
    leave_wait(first, reply)
    enter_wait(second, Reply(first))
    assert first.awaiting is None


def test_a_settled_reply_is_no_edge() -> None:
    first, second = Node("1"), Node("2")
    reply: Reply[int] = Reply(second)
    enter_wait(first, reply)
    reply.settle(1)
    enter_wait(second, Reply(first))


def test_a_ring_through_map_and_join_is_found() -> None:
    first, second = Node("1"), Node("2")
    asked: Reply[int] = Reply(second)
    for derived in (asked.map(str), asked.join(Reply()), asked.map(str).join(Reply())):
        enter_wait(first, derived)
        with pytest.raises(AskCycle) as refused:
            enter_wait(second, Reply(first))
        assert refused.value.ring == ("2", "1", "2")
        leave_wait(first, derived)


def test_of_two_waits_that_close_a_ring_at_the_same_moment_exactly_one_is_refused() -> None:
    for _ in range(100):
        first, second = Node("1"), Node("2")
        start = threading.Barrier(2)

        def wait(waiter: Node, target: Node, start: Any = start) -> str:
            start.wait(LIMIT_S)
            try:
                enter_wait(waiter, Reply(target))
            except AskCycle:
                return "refused"
            return "waits"

        one = in_thread(lambda w=wait, a=first, b=second: w(a, b))  # type: ignore[misc]
        two = in_thread(lambda w=wait, a=first, b=second: w(b, a))  # type: ignore[misc]
        assert sorted([one.get(timeout=LIMIT_S), two.get(timeout=LIMIT_S)]) == ["refused", "waits"]


# -- actors ----------------------------------------------------------------------------------------


def refusal_in_ring(first: ActorRef[Any], *others: ActorRef[Any]) -> AskCycle:
    """The error of an ask that goes from the first through the others and back to the first."""
    message: Any = asking(first, lambda _: "never")
    for other in reversed(others):
        message = asking(other, message)
    with pytest.raises(AskCycle) as refused:
        first.ask(message, timeout=LIMIT_S)
    return refused.value


def test_an_actor_that_asks_itself_is_refused(any_system: ActorSystem) -> None:
    ref = any_system.spawn(Player, name="narcissus")
    refused = refusal_in_ring(ref)
    assert refused.ring == ("/user/narcissus", "/user/narcissus")
    assert "/user/narcissus -> /user/narcissus" in str(refused)
    assert "background" in str(refused)


def test_rings_of_two_and_three_are_refused_and_shown(any_system: ActorSystem) -> None:
    refs = [any_system.spawn(Player, name=name) for name in ("a", "b", "c")]
    assert refusal_in_ring(*refs[:2]).ring == ("/user/b", "/user/a", "/user/b")
    assert refusal_in_ring(*refs).ring == ("/user/c", "/user/a", "/user/b", "/user/c")


def test_after_a_refused_ring_everybody_can_go_on(system: ActorSystem) -> None:
    first, second = system.spawn(Player), system.spawn(Player)
    refusal_in_ring(first, second)
    assert first.ask(asking(second, lambda _: "fine"), timeout=LIMIT_S) == "fine"
    assert second.ask(asking(first, lambda _: "fine"), timeout=LIMIT_S) == "fine"
    assert first._cell.awaiting is None
    assert second._cell.awaiting is None


def test_of_two_actors_that_ask_each_other_at_the_same_moment_one_is_refused(
    any_system: ActorSystem,
) -> None:
    first, second = any_system.spawn(Player), any_system.spawn(Player)
    arrived: list[int] = []
    both: Reply[None] = Reply()

    def ask_other(other: ActorRef[Any]) -> Callable[[Any], Any]:
        async def ask(_: Any) -> Any:
            arrived.append(1)
            if len(arrived) == 2:
                both.settle()
            await both
            return await other.aask(lambda _: "answered")

        return ask

    asked = [
        first.ask(ask_other(second), block=False),
        second.ask(ask_other(first), block=False),
    ]
    outcomes: list[Any] = []
    for reply in asked:
        try:
            outcomes.append(reply.get(timeout=LIMIT_S))
        except AskCycle as error:
            outcomes.append(type(error))
    assert sorted(map(str, outcomes)) == sorted(map(str, ["answered", AskCycle]))


def test_actors_of_two_systems_on_two_threads_close_no_ring_either(system: ActorSystem) -> None:
    with ActorSystem("other") as other:
        for _ in range(30):
            near, far = system.spawn(Player), other.spawn(Player)
            one = near.ask(asking(far, asking(near, lambda _: "never")), block=False)
            two = far.ask(asking(near, lambda _: "answered"), block=False)
            with pytest.raises(AskCycle):
                one.get(timeout=LIMIT_S)
            try:
                assert two.get(timeout=LIMIT_S) == "answered"
            except AskCycle:
                pass  # it came in between: it would have closed the ring as well


def test_a_ring_through_background_work_is_refused(system: ActorSystem) -> None:
    ref, other = system.spawn(Player, name="a"), system.spawn(Player, name="b")

    async def wait_for_own_work(self: Any) -> Any:
        return await self.background(ask_other(), label="work")

    async def ask_other() -> Any:
        return await other.aask(asking(ref, lambda _: "never"))

    with pytest.raises(AskCycle) as refused:
        ref.ask(wait_for_own_work, timeout=LIMIT_S)
    assert refused.value.ring == ("/user/b", "/user/a", "/user/a#work", "/user/b")


def test_background_work_may_ask_its_own_actor_whose_mailbox_is_free(system: ActorSystem) -> None:
    ref = system.spawn(Player)

    async def ask_own() -> Any:
        return await ref.aask(lambda _: "free")

    assert ref.ask(lambda self: self.background(ask_own()), timeout=LIMIT_S) == "free"


def test_a_worker_thread_that_asks_the_actor_which_waits_for_it_is_refused(
    any_system: ActorSystem,
) -> None:
    ref = any_system.spawn(Player)
    workers = any_system.worker_threads("tools", limit=1)

    async def use_tool(_: Any) -> Any:
        return await workers.run(lambda: ref.ask(lambda _: "never", timeout=LIMIT_S))

    with pytest.raises(AskCycle):
        ref.ask(use_tool, timeout=LIMIT_S)
    workers.close()


def test_a_thread_with_a_copied_context_is_known_as_well(system: ActorSystem) -> None:
    ref = system.spawn(Player)

    async def use_thread(_: Any) -> Any:
        context = contextvars.copy_context()
        ask = in_thread(lambda: context.run(ref.ask, lambda _: "never", timeout=LIMIT_S))
        return await ask

    with pytest.raises(AskCycle):
        ref.ask(use_thread, timeout=LIMIT_S)
    with pytest.raises(AskCycle):
        ref.ask(
            lambda _: asyncio.to_thread(ref.ask, lambda _: "never", timeout=LIMIT_S),
            timeout=LIMIT_S,
        )


def test_blocking_actors_close_no_ring(system: ActorSystem) -> None:
    blocking, other = system.spawn(BlockingPlayer), system.spawn(Player)
    with pytest.raises(AskCycle):
        blocking.ask(lambda _: blocking.ask(lambda _: "never", timeout=LIMIT_S), timeout=LIMIT_S)
    with pytest.raises(AskCycle):
        blocking.ask(
            lambda _: other.ask(asking(blocking, lambda _: "never"), timeout=LIMIT_S),
            timeout=LIMIT_S,
        )


def test_a_join_of_asks_that_come_back_is_refused(system: ActorSystem) -> None:
    first, second, third = (system.spawn(Player) for _ in range(3))

    async def ask_both(_: Any) -> Any:
        back = second.aask(asking(first, lambda _: "never"))
        return await third.aask(lambda _: 1).join(back)

    with pytest.raises(AskCycle):
        first.ask(ask_both, timeout=LIMIT_S)


class Curious(Player):
    """Asks its supervisor, called `sup`, while it starts."""

    def __init__(self, outcome: Reply[Any]) -> None:
        super().__init__()
        self.outcome = outcome

    async def on_start(self) -> None:
        try:
            self.outcome.settle(await self.system.registry.get("sup").acount_children())
        except AskCycle as error:
            self.outcome.settle(error=error)


def test_a_child_of_the_list_that_asks_its_starting_supervisor_is_refused(
    system: ActorSystem,
) -> None:
    outcome: Reply[Any] = Reply()
    system.spawn(Supervisor, [ChildSpec(Curious, (outcome,))], name="sup")
    with pytest.raises(AskCycle):
        outcome.get(timeout=LIMIT_S)


def test_a_dynamic_child_may_ask_its_supervisor_while_it_starts(system: ActorSystem) -> None:
    outcome: Reply[Any] = Reply()
    system.spawn(Supervisor, name="sup").start_child(ChildSpec(Curious, (outcome,)))
    assert outcome.get(timeout=LIMIT_S).specs == 1


def test_a_child_that_asks_for_its_own_end_or_restart_is_refused(system: ActorSystem) -> None:
    supervisor = system.spawn(Supervisor)
    child = supervisor.start_child(ChildSpec(Player, name="child"))
    for order in (supervisor.aterminate_child, supervisor.arestart_child):

        async def ask(_: Any, order: Any = order) -> Any:
            return await order("child")

        with pytest.raises(AskCycle):
            child.ask(ask, timeout=LIMIT_S)
    assert child.ask(lambda _: "lives", timeout=LIMIT_S) == "lives"


def test_an_actor_that_asks_for_its_own_end_is_refused(system: ActorSystem) -> None:
    ref = system.spawn(Player)

    async def end_itself(self: Any) -> Any:
        return await self.actor_ref.astop()

    with pytest.raises(AskCycle):
        ref.ask(end_itself, timeout=LIMIT_S)


def test_many_asks_at_once_are_one_wait_each_and_all_are_forgotten(system: ActorSystem) -> None:
    ref, echo = system.spawn(Player), system.spawn(Echo)

    async def ask_many(_: Any) -> Any:
        return await asyncio.gather(*(echo.aask(number) for number in range(20)))

    assert ref.ask(ask_many, timeout=LIMIT_S) == list(range(20))
    assert ref._cell.awaiting is None
