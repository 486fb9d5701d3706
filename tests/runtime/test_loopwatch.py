"""The loop watch: a handler that holds the loop is named with its message and stack, once."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator
from typing import Any

import pytest

from runtime import Actor, ActorSystem, LoopBlocked, Reply
from tests.runtime.players import LIMIT_S, Echo, Held, Player


class Order:
    """A message with a name of its own."""

    def __init__(self, held: Held) -> None:
        self.held = held


class Hog(Actor):
    """Holds the loop in a handler, a later step of an async one, or a hook."""

    def on_receive(self, message: Any) -> Any:
        return message.held.work()


class AsyncHog(Actor):
    async def on_receive(self, message: Order) -> Any:
        await asyncio.sleep(0)
        return message.held.work()


@pytest.fixture
def watched() -> Iterator[ActorSystem]:
    """A system that reports soon."""
    with ActorSystem("watched", uvloop=False, loop_watch_s=0.02) as system:
        yield system


def blocked(system: ActorSystem) -> Reply[LoopBlocked]:
    """The first report."""
    report: Reply[LoopBlocked] = Reply()
    system.events.subscribe(report.set, LoopBlocked)
    return report


def wait_logged(caplog: pytest.LogCaptureFixture) -> None:
    """Wait until the blockage is in the log."""
    deadline = time.monotonic() + LIMIT_S
    while "loop_blocked" not in caplog.text:
        assert time.monotonic() < deadline


@pytest.mark.parametrize("kind", [Hog, AsyncHog])
def test_a_handler_that_holds_the_loop_is_named_with_message_and_stack(
    watched: ActorSystem, caplog: pytest.LogCaptureFixture, kind: type[Actor]
) -> None:
    report, held = blocked(watched), Held()
    ref = watched.spawn(kind, name="hog")
    with caplog.at_level(logging.WARNING, "greenroom"):
        asked = ref.ask(Order(held), block=False)
        wait_logged(caplog)
        held.release()
    event = report.get(timeout=LIMIT_S)
    assert asked.get(timeout=LIMIT_S) == "done"
    assert event.path == "/user/hog"
    assert event.message == "Order"
    assert event.held_s > 0
    assert "players.py" in event.stack
    assert "in work" in event.stack


def test_a_told_message_and_a_hook_are_named_as_well(
    watched: ActorSystem, caplog: pytest.LogCaptureFixture
) -> None:
    class Hooked(Actor):
        def on_start(self) -> None:
            held.work()

    report, held = blocked(watched), Held()
    with caplog.at_level(logging.WARNING, "greenroom"):
        watched.spawn(Hooked, name="hooked")
        wait_logged(caplog)
        held.release()
    assert report.get(timeout=LIMIT_S).path == "/user/hooked"
    caplog.clear()
    report, held = blocked(watched), Held()
    with caplog.at_level(logging.WARNING, "greenroom"):
        watched.spawn(Hog, name="told").tell(Order(held))
        wait_logged(caplog)
        held.release()
    event = report.get(timeout=LIMIT_S)
    assert (event.path, event.message) == ("/user/told", "Order")


def test_one_blockage_is_one_report(watched: ActorSystem, caplog: pytest.LogCaptureFixture) -> None:
    held = Held()
    ref = watched.spawn(Hog)
    with caplog.at_level(logging.WARNING, "greenroom"):
        asked = ref.ask(Order(held), block=False)
        wait_logged(caplog)
        assert not held.let_go.wait(0.2)  # several thresholds
        held.release()
        asked.get(timeout=LIMIT_S)
    assert caplog.text.count("event='loop_blocked'") == 1


def test_waiting_is_not_holding(watched: ActorSystem, caplog: pytest.LogCaptureFixture) -> None:
    held = Held()
    ref = watched.spawn(Player)
    with caplog.at_level(logging.WARNING, "greenroom"):
        asked = ref.ask(held.awork, block=False)
        held.wait()
        for _ in range(20):
            watched.spawn(Echo).ask(1, timeout=LIMIT_S)
        held.release()
        asked.get(timeout=LIMIT_S)
    assert "actor='/user/Player" not in caplog.text


def test_the_watch_ends_with_a_system_that_ends_by_itself() -> None:
    with ActorSystem("watched", loop_watch_s=0.01) as system:
        system.root.stop(timeout=LIMIT_S)
        watch: Any = system._watch
        watch._thread.join(LIMIT_S)
        assert not watch._thread.is_alive()
