"""Timers: sent by the clock, to one incarnation, and ended with it."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from runtime import ActorRef, ActorSystem, ChildSpec, MisuseError, Supervisor, Timer
from runtime.testing import VirtualSystem
from tests.runtime.players import LIMIT_S, BlockingPlayer, Player, Strict, fail, until


class Ticking(Strict):
    """Counts ticks and notes when they came; functions are done."""

    def __init__(self) -> None:
        super().__init__()
        self.ticks: list[float] = []

    def on_receive(self, message: Any) -> Any:
        if message == "tick":
            self.ticks.append(self.system.clock())
            return None
        return super().on_receive(message)


def ticks(ref: ActorRef[Any]) -> list[float]:
    """When the ticks came."""
    came: list[float] = ref.ask(lambda self: list(self.ticks), timeout=LIMIT_S)
    return came


def test_a_message_is_sent_after_its_delay_and_once(virtual: VirtualSystem) -> None:
    ref = virtual.spawn(Ticking)
    ref.ask(lambda self: self.send_after(10.0, "tick") and None, timeout=LIMIT_S)
    virtual.advance(9.0)
    assert ticks(ref) == []
    virtual.advance(100.0)
    assert ticks(ref) == [pytest.approx(10.0)]


def test_a_message_is_sent_every_period_until_it_is_cancelled(virtual: VirtualSystem) -> None:
    ref = virtual.spawn(Ticking)
    timer: Timer = ref.ask(lambda self: self.send_every(60.0, "tick"), timeout=LIMIT_S)
    virtual.advance(3600.0)
    assert len(ticks(ref)) == 60
    timer.cancel()
    timer.cancel()
    virtual.advance(3600.0)
    assert len(ticks(ref)) == 60


def test_a_timer_cancelled_on_the_loop_never_fires(virtual: VirtualSystem) -> None:
    ref = virtual.spawn(Ticking)

    def set_and_cancel(self: Any) -> None:
        self.send_after(1.0, "tick").cancel()
        self.send_every(1.0, "tick").cancel()

    ref.ask(set_and_cancel, timeout=LIMIT_S)
    virtual.advance(10.0)
    assert ticks(ref) == []


def test_timers_end_with_their_incarnation(virtual: VirtualSystem) -> None:
    ref = virtual.spawn(Supervisor).start_child(ChildSpec(Ticking))
    ref.ask(lambda self: self.send_every(1.0, "tick") and None, timeout=LIMIT_S)
    ref.ask(lambda self: self.send_after(1.0, "tick") and None, timeout=LIMIT_S)
    ref.tell(fail())
    virtual.advance(10.0)
    assert ticks(ref) == []


def test_a_tick_that_waits_does_not_reach_the_next_incarnation(virtual: VirtualSystem) -> None:
    ref = virtual.spawn(Supervisor).start_child(ChildSpec(Ticking))

    async def busy(self: Any) -> None:
        self.send_after(1.0, "tick")
        await asyncio.sleep(5.0)
        self.fail(ValueError())

    ref.tell(busy)
    virtual.advance(10.0)
    assert ticks(ref) == []
    assert virtual.dead_letters.count == 0


def test_timers_may_be_set_in_init_and_in_on_start(virtual: VirtualSystem) -> None:
    class Early(Ticking):
        def __init__(self) -> None:
            super().__init__()
            self.send_after(1.0, "tick")

        def on_start(self) -> None:
            self.send_after(2.0, "tick")

    ref = virtual.spawn(Early)
    virtual.advance(5.0)
    assert len(ticks(ref)) == 2


def test_a_blocking_actor_sets_timers_from_its_thread(virtual: VirtualSystem) -> None:
    ref = virtual.spawn(BlockingPlayer)
    heard: list[str] = []
    ref.ask(lambda self: self.send_after(5.0, lambda _: heard.append("x")) and None)
    virtual.advance(10.0)
    assert heard == ["x"]


@pytest.mark.parametrize("period", [0.0, -1.0, float("nan")])
def test_a_period_of_nothing_is_refused(system: ActorSystem, period: float) -> None:
    with pytest.raises(MisuseError, match="send_every"):
        system.spawn(Player).ask(lambda self: self.send_every(period, "x"), timeout=LIMIT_S)


@pytest.mark.parametrize("overflow", ["reject", "block", "drop_newest"])
def test_a_tick_to_a_full_mailbox_is_dropped_and_logged(
    virtual: VirtualSystem, overflow: Any, caplog: pytest.LogCaptureFixture
) -> None:
    kind: Any = type("Full", (Ticking,), {"capacity": 1, "overflow": overflow})
    ref = virtual.spawn(kind)

    async def busy(self: Any) -> None:
        self.send_after(1.0, "tick")
        self.actor_ref.tell(lambda _: None)
        await asyncio.sleep(5.0)

    ref.tell(busy)
    with caplog.at_level(logging.WARNING, "greenroom"):
        virtual.advance(10.0)
    assert ticks(ref) == []
    assert "timer_message_dropped" in caplog.text


def test_a_timer_of_an_actor_that_stopped_is_nothing(any_system: ActorSystem) -> None:
    ref = any_system.spawn(Ticking)
    ref.ask(lambda self: self.send_every(0.001, "tick") and None, timeout=LIMIT_S)
    until(lambda: len(ticks(ref)) > 2)
    ref.stop(timeout=LIMIT_S)
    assert any_system.dead_letters.count == 0


def test_cancelling_after_the_end_of_the_system_is_nothing() -> None:
    with ActorSystem("brief") as system:
        timer = system.spawn(Player).ask(lambda self: self.send_after(100.0, "x"), timeout=LIMIT_S)
    timer.cancel()


def test_timers_that_were_cancelled_or_have_fired_are_not_kept(virtual: VirtualSystem) -> None:
    ref = virtual.spawn(Ticking)

    def set_many(self: Any) -> None:
        for _ in range(100):
            self.send_after(1000.0, "tick").cancel()
            self.send_after(1.0, "tick")

    ref.ask(set_many, timeout=LIMIT_S)
    cell: Any = ref._cell
    assert len(cell.belongings.timers) == 100
    virtual.advance(2.0)
    assert len(ticks(ref)) == 100
    assert len(cell.belongings.timers) == 0
