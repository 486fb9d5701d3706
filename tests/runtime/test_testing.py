"""Virtual time: hours in milliseconds, and no jump while anybody works."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from runtime import ActorSystem, Timeout
from runtime.testing import VirtualSystem
from tests.runtime.players import LIMIT_S, BlockingPlayer, Boom, Echo, Held, Player


def test_the_clock_stands_until_it_is_moved(virtual: VirtualSystem) -> None:
    assert virtual.clock() == 0
    virtual.spawn(Echo).ask(1, timeout=LIMIT_S)
    assert virtual.clock() == 0
    virtual.advance(10.0)
    assert virtual.clock() == pytest.approx(10.0)
    virtual.advance(0.0)
    assert virtual.clock() == pytest.approx(10.0)


def test_timers_fire_in_order_each_at_its_time(virtual: VirtualSystem) -> None:
    seen: list[tuple[str, float]] = []

    def note(word: str) -> Any:
        return lambda self: seen.append((word, self.system.clock()))

    def set_timers(self: Any) -> None:
        self.send_after(30.0, note("c"))
        self.send_after(10.0, note("a"))
        self.send_after(20.0, note("b"))

    virtual.spawn(Player).ask(set_timers, timeout=LIMIT_S)
    virtual.advance(25.0)
    assert [word for word, _ in seen] == ["a", "b"]
    virtual.advance(5.0)
    assert [at for _, at in seen] == pytest.approx([10.0, 20.0, 30.0])


def test_waiting_in_ask_moves_the_clock_as_far_as_the_answer_needs(virtual: VirtualSystem) -> None:
    async def work(_: Any) -> str:
        await asyncio.sleep(3600)
        return "done"

    assert virtual.spawn(Player).ask(work, timeout=LIMIT_S) == "done"
    assert virtual.clock() == pytest.approx(3600)


def test_an_answer_given_at_once_never_moves_the_clock(virtual: VirtualSystem) -> None:
    """Between the answer and the waking of whoever waits for it the loop has nothing to do."""
    sleeper = virtual.spawn(Player)
    sleeper.tell(lambda _: asyncio.sleep(1e9))
    echo = virtual.spawn(Echo)
    for number in range(300):
        assert echo.ask(number, timeout=LIMIT_S) == number
    assert virtual.clock() == 0


def test_timeouts_and_sleeps_of_minutes_take_no_time(virtual: VirtualSystem) -> None:
    async def time_out(_: Any) -> str:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.sleep(1e6), 600)
        return "timed out"

    assert virtual.spawn(Player).ask(time_out, timeout=LIMIT_S) == "timed out"
    assert virtual.clock() == pytest.approx(600)


def test_a_blocking_actor_at_work_lets_no_time_go_by(virtual: VirtualSystem) -> None:
    blocking, held = virtual.spawn(BlockingPlayer), Held()
    sleeper = virtual.spawn(Player)
    slept = sleeper.ask(lambda _: asyncio.sleep(5.0), block=False)
    working = blocking.ask(held.work, block=False)
    held.wait()
    with pytest.raises(Timeout):
        working.get(timeout=0.05)
    assert virtual.clock() == 0
    assert not slept.done()
    held.release()
    assert working.get(timeout=LIMIT_S) == "done"
    assert virtual.clock() == 0
    slept.get(timeout=LIMIT_S)
    assert virtual.clock() == pytest.approx(5.0)


def test_advance_waits_for_a_blocking_actor_before_it_moves_on(virtual: VirtualSystem) -> None:
    at: list[float] = []

    def work(self: Any) -> None:
        at.append(self.system.clock())

    ref = virtual.spawn(BlockingPlayer)
    for _ in range(20):
        ref.ask(lambda self: self.send_after(1.0, work) and None, timeout=LIMIT_S)
        virtual.advance(2.0)
    assert at == pytest.approx([2.0 * number + 1.0 for number in range(20)])


def test_settle_waits_for_every_step_of_the_present_moment(virtual: VirtualSystem) -> None:
    seen: list[str] = []

    async def many_steps(_: Any) -> None:
        for _ in range(50):
            await asyncio.sleep(0)
        seen.append("done")

    virtual.spawn(Player).tell(many_steps)
    virtual.settle()
    assert seen == ["done"]


def test_settle_waits_for_blocking_work(virtual: VirtualSystem) -> None:
    seen: list[str] = []
    virtual.spawn(BlockingPlayer).tell(lambda _: seen.append("done"))
    virtual.settle()
    assert seen == ["done"]


def test_run_until_waits_for_a_fact_and_gives_up_on_one_that_never_comes(
    virtual: VirtualSystem,
) -> None:
    seen: list[int] = []
    ref = virtual.spawn(Player)
    ref.tell(lambda _: seen.append(1))
    virtual.run_until(lambda: seen == [1])
    with pytest.raises(AssertionError, match="did not come about"):
        virtual.run_until(lambda: False, turns=50)


def test_what_a_fact_raises_is_raised_where_it_was_asked_for(virtual: VirtualSystem) -> None:
    def wrong() -> bool:
        raise Boom

    with pytest.raises(Boom):
        virtual.run_until(wrong)


def test_shutdown_of_a_virtual_system_takes_virtual_time(virtual: VirtualSystem) -> None:
    async def linger(_: Any) -> None:
        await asyncio.sleep(4.0)

    ref = virtual.spawn(Player)
    asked = ref.ask(linger, block=False)
    virtual.settle()
    virtual.shutdown()
    assert asked.get(timeout=LIMIT_S) is None
    assert virtual.clock() == pytest.approx(4.0)


def test_a_real_system_beside_a_virtual_one_keeps_its_own_time(
    virtual: VirtualSystem, system: ActorSystem
) -> None:
    far = system.spawn(Echo)

    async def ask(_: Any) -> Any:
        return await far.aask("real")

    assert virtual.spawn(Player).ask(ask, timeout=LIMIT_S) == "real"
