"""The loop thread: no lost wake-up, order, fairness, and a loop that survives what passes through it."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import threading
from typing import Any

import pytest

from runtime import ActorSystem, Reply
from runtime.loop import DRAIN, LoopThread
from tests.runtime.players import LIMIT_S, Boom, Echo, Player, in_thread


def test_no_wake_up_is_lost_between_many_senders_and_a_loop_that_falls_asleep(
    any_system: ActorSystem,
) -> None:
    """Each ask waits for its answer, so the loop goes to sleep and is woken all the time."""
    refs = [any_system.spawn(Echo) for _ in range(4)]

    def ask_on(ref: Any) -> int:
        return sum(ref.ask(1, timeout=LIMIT_S) for _ in range(500))

    askers = [in_thread(lambda ref=ref: ask_on(ref)) for ref in refs]  # type: ignore[misc]
    assert [asker.get(timeout=LIMIT_S) for asker in askers] == [500] * 4


def test_a_sender_that_saw_the_drain_awake_is_served_although_the_drain_was_at_its_end(
    system: ActorSystem,
) -> None:
    """Told in steps: the sender appends and sees the flag up, then the drain takes the flag down."""
    loop_thread = system.loop_thread
    called: Reply[str] = Reply()

    def at_the_end() -> None:
        real = loop_thread._drain_again

        def append_first() -> None:
            loop_thread._drain_again = real  # type: ignore[method-assign]
            assert loop_thread.awake
            loop_thread.posted.append((called.set, ("served",)))
            real()

        loop_thread._drain_again = append_first  # type: ignore[method-assign]

    loop_thread.post(at_the_end)
    assert called.get(timeout=LIMIT_S) == "served"


def test_what_is_posted_keeps_its_order(any_system: ActorSystem) -> None:
    seen: list[int] = []
    done: Reply[None] = Reply()
    for number in range(1000):
        any_system.loop_thread.post(seen.append, number)
    any_system.loop_thread.post(done.set)
    done.get(timeout=LIMIT_S)
    assert seen == list(range(1000))


def test_a_fault_in_what_was_posted_is_logged_and_the_next_is_called(
    system: ActorSystem, caplog: pytest.LogCaptureFixture
) -> None:
    done: Reply[None] = Reply()

    def fault() -> None:
        raise Boom

    system.loop_thread.post(fault)
    system.loop_thread.post(done.set)
    done.get(timeout=LIMIT_S)
    assert "runtime_fault" in caplog.text
    assert system.spawn(Echo).ask(1, timeout=LIMIT_S) == 1


def test_a_fault_in_a_turn_of_the_run_queue_is_logged_and_the_loop_goes_on(
    system: ActorSystem, caplog: pytest.LogCaptureFixture
) -> None:
    class Faulty:
        def run(self) -> int:
            raise Boom

    system.loop_thread.ready.append(Faulty())
    assert system.spawn(Echo).ask(1, timeout=LIMIT_S) == 1
    assert "runtime_fault" in caplog.text
    assert system.spawn(Echo).ask(1, timeout=LIMIT_S) == 1


def test_a_flooded_actor_does_not_starve_another_nor_the_loop(any_system: ActorSystem) -> None:
    flooded, other = any_system.spawn(Player), any_system.spawn(Player)
    state = {"flood": 0, "at_answer": 0, "at_timer": 0}
    done: Reply[None] = Reply()
    count = 20 * DRAIN

    def flood(_: Any) -> None:
        state["flood"] += 1

    def begin(self: Any) -> None:
        for _ in range(count):
            flooded.tell(flood)
        other.tell(lambda _: state.update(at_answer=state["flood"]))
        asyncio.get_running_loop().call_later(0, lambda: state.update(at_timer=state["flood"]))
        flooded.tell(lambda _: done.settle())

    any_system.spawn(Player).ask(begin, timeout=LIMIT_S)
    done.get(timeout=LIMIT_S)
    assert state["at_answer"] < count / 2
    assert state["at_timer"] < count


def test_many_drains_at_once_end_again(any_system: ActorSystem) -> None:
    """Two senders that both find the loop asleep schedule two drains; the second finds nothing."""
    loop_thread = any_system.loop_thread
    start = threading.Barrier(8)

    def wake() -> None:
        start.wait(LIMIT_S)
        loop_thread.wake()

    for one in [in_thread(wake) for _ in range(8)]:
        one.get(timeout=LIMIT_S)
    assert any_system.spawn(Echo).ask(1, timeout=LIMIT_S) == 1


def test_a_thread_started_after_the_end_is_not_taken_for_the_loop_thread() -> None:
    with ActorSystem("brief") as system:
        pass
    assert system.loop_thread.ident == 0
    assert not system.loop_thread.here()


def test_a_loop_thread_that_never_ran_an_actor_ends(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        loop_thread = LoopThread("alone")
        loop_thread.start()
        assert loop_thread.stop(LIMIT_S)
        assert loop_thread.stop(LIMIT_S)
    assert caplog.text == ""


def test_a_system_lives_in_a_process_without_standard_input() -> None:
    program = "from runtime import ActorSystem\nActorSystem().shutdown()"
    shell = 'exec "$0" -c "$1" <&-'
    command = ["/bin/sh", "-c", shell, sys.executable, program]
    assert subprocess.run(command, timeout=30, check=False).returncode == 0
