"""The executor of a real system: calls at once, deadlines, cancelling, rings, the end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from actors.model.toolspec import ToolSpec
from actors.tools.decision import Ready
from actors.tools.executor import ToolExecutor, run_on, tool_executor
from actors.tools.tool import Tool
from runtime import Actor, ActorDeadError, ActorRef, ActorSystem, Cancelled


def call(run: Callable[[Any], Any], *, timeout_s: float | None = 120.0) -> Ready:
    return Ready(Tool(ToolSpec("demo"), run, timeout_s=timeout_s), {})


def waits_for(event: threading.Event) -> Callable[[Any], Any]:
    def run(_: Any) -> str:
        assert event.wait(10)
        return "waited"

    return run


def test_a_system_has_one_executor() -> None:
    with ActorSystem() as system, ActorSystem() as other:
        assert tool_executor(system) == tool_executor(system)
        assert tool_executor(system) != tool_executor(other)


def test_calls_overlap_in_time() -> None:
    both_run = threading.Barrier(2, timeout=10)
    with ActorSystem() as system:
        executor = tool_executor(system)
        replies = [run_on(executor, call(lambda _: both_run.wait() >= 0)) for _ in range(2)]
        assert [reply.get(timeout=10) for reply in replies] == [True, True]


def test_a_call_on_the_loop_and_one_on_a_thread_overlap_too() -> None:
    may_end = threading.Event()

    async def frees(_: Any) -> str:
        may_end.set()
        return "freed"

    with ActorSystem() as system:
        executor = tool_executor(system)
        blocked = run_on(executor, call(waits_for(may_end)))
        assert run_on(executor, call(frees)).get(timeout=10) == "freed"
        assert blocked.get(timeout=10) == "waited"


def test_no_more_calls_than_the_limit_run_and_the_rest_follow_in_order() -> None:
    running: list[int] = []
    order: list[int] = []

    def numbered(number: int) -> Ready:
        async def run(_: Any) -> int:
            running.append(number)
            order.append(number)
            most = len(running)
            await asyncio.sleep(0)
            running.remove(number)
            return most

        return call(run)

    with ActorSystem() as system:
        executor = system.spawn(ToolExecutor, 2)
        replies = [run_on(executor, numbered(number)) for number in range(6)]
        assert max(reply.get(timeout=10) for reply in replies) == 2
    assert order == list(range(6))


def test_a_hung_function_costs_a_thread_and_keeps_nobody_waiting() -> None:
    may_end = threading.Event()
    with ActorSystem() as system:
        executor = system.spawn(ToolExecutor, 8, 1)
        late = run_on(executor, call(waits_for(may_end), timeout_s=0.01)).get(timeout=10)
        assert late["error"] == "tool 'demo' did not end within 0.01 s"
        assert run_on(executor, call(lambda _: "next")).get(timeout=10) == "next"
        may_end.set()


def test_cancelling_the_reply_cancels_the_call() -> None:
    begun, cancelled = threading.Event(), threading.Event()

    async def run(_: Any) -> Any:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    with ActorSystem() as system:
        reply = run_on(tool_executor(system), call(run))
        assert begun.wait(10)
        reply.cancel()
        with pytest.raises(Cancelled):
            reply.get(timeout=10)
        assert cancelled.wait(10)


def test_the_end_of_the_system_answers_calls_that_still_run() -> None:
    begun = threading.Event()

    async def run(_: Any) -> Any:
        begun.set()
        await asyncio.Event().wait()

    with ActorSystem() as system:
        reply = run_on(tool_executor(system), call(run))
        assert begun.wait(10)
    with pytest.raises((Cancelled, ActorDeadError)):
        reply.get(timeout=10)


class Caller(Actor):
    """Runs a tool and waits for it, as an agent's turn does."""

    def __init__(self, executor: ActorRef[ToolExecutor], run: Callable[[Any], Any]) -> None:
        super().__init__()
        self._executor = executor
        self._run = run

    async def on_receive(self, message: Any) -> Any:
        return await run_on(self._executor, call(self._run))


def test_a_tool_that_asks_its_own_caller_is_told_of_the_ring() -> None:
    refs: list[ActorRef[Caller]] = []
    with ActorSystem() as system:
        executor = tool_executor(system)
        refs.append(system.spawn(Caller, executor, lambda _: refs[0].ask("again"), name="caller"))
        result = refs[0].ask("go", timeout=10)
        assert result["status"] == "error"
        assert "caller" in result["error"]
        assert run_on(executor, call(lambda _: "still there")).get(timeout=10) == "still there"


def test_an_async_tool_that_asks_its_own_caller_is_told_of_the_ring() -> None:
    refs: list[ActorRef[Caller]] = []

    async def run(_: Any) -> Any:
        return await refs[0].aask("again")

    with ActorSystem() as system:
        refs.append(system.spawn(Caller, tool_executor(system), run, name="caller"))
        result = refs[0].ask("go", timeout=10)
    assert result["status"] == "error"
    assert "caller" in result["error"]


def test_an_unknown_message_is_for_pykka() -> None:
    with ActorSystem() as system:
        assert tool_executor(system).ask("hello", timeout=10) is None
