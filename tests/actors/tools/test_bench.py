"""The bench: calls without a message for each, and what they still owe to the executor."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from actors.model.toolspec import ToolSpec
from actors.tools import bench
from actors.tools.executor import ToolExecutor, tool_executor
from actors.tools.registry import ToolRegistry
from actors.tools.runner import RegistryRunner
from actors.tools.tool import Tool
from runtime import Actor, ActorRef, ActorSystem
from tests.actors.agent.on_loop import on_loop


def runner(
    executor: ActorRef[ToolExecutor], run: Callable[[Any], Any], timeout_s: float = 120.0
) -> RegistryRunner:
    """Runs one tool, `demo`."""
    registry = ToolRegistry()
    registry.register(Tool(ToolSpec("demo"), run, timeout_s=timeout_s))
    return RegistryRunner(registry, executor, approver=None, store=None)


class Caller(Actor):
    """Runs a tool in its own task, as an agent's turn does; answers `"ping"` with `"pong"`."""

    def __init__(self, tools: RegistryRunner) -> None:
        super().__init__()
        self._tools = tools

    async def on_receive(self, message: Any) -> Any:
        return "pong" if message == "ping" else await self._tools.run("demo", {})


class Asker(Actor):
    """Asks whom it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.may_ask = asyncio.Event()

    async def on_receive(self, message: Any) -> Any:
        return await message.aask("ping", timeout=10)


class Fragile(ToolExecutor):
    """An executor that can be made to fail."""

    def on_receive(self, message: Any) -> Any:
        if message == "fail":
            raise RuntimeError("as it was told")
        return super().on_receive(message)


def test_a_function_runs_on_a_thread_and_a_coroutine_on_the_loop() -> None:
    async def on_the_loop(_: Any) -> str:
        return threading.current_thread().name

    with ActorSystem("s") as system:
        executor = tool_executor(system)
        on_a_thread = Caller, runner(executor, lambda _: threading.current_thread().name)
        assert "s-tools" in system.spawn(*on_a_thread).ask("go", timeout=10)
        loop = system.spawn(Caller, runner(executor, on_the_loop)).ask("go", timeout=10)
        assert "s-tools" not in loop


def test_what_a_function_gives_to_await_is_awaited() -> None:
    async def later() -> str:
        return "later"

    with ActorSystem() as system:
        caller = system.spawn(Caller, runner(tool_executor(system), lambda _: later()))
        assert caller.ask("go", timeout=10) == "later"


def test_a_coroutine_that_refuses_to_end_holds_no_cancelled_caller() -> None:
    begun, may_end = threading.Event(), asyncio.Event()

    async def stubborn(_: Any) -> str:
        begun.set()
        while not may_end.is_set():
            try:
                await may_end.wait()
            except asyncio.CancelledError:
                continue
        return "at last"

    with ActorSystem() as system:
        caller = system.spawn(Caller, runner(tool_executor(system), stubborn))
        reply = caller.aask("go")
        assert begun.wait(10)
        reply.cancel()
        assert caller.ask("ping", timeout=10) == "pong"
        system.loop_thread.loop.call_soon_threadsafe(may_end.set)


def test_a_hung_function_holds_no_cancelled_caller() -> None:
    begun, may_end = threading.Event(), threading.Event()

    def hang(_: Any) -> None:
        begun.set()
        may_end.wait(10)

    with ActorSystem() as system:
        caller = system.spawn(Caller, runner(tool_executor(system), hang))
        reply = caller.aask("go")
        assert begun.wait(10)
        reply.cancel()
        assert caller.ask("ping", timeout=10) == "pong"
        may_end.set()


def test_what_a_function_waits_for_once_given_up_is_not_held_against_its_caller() -> None:
    refs: list[ActorRef[Any]] = []
    begun, asks = threading.Event(), threading.Event()

    def hang_and_ask(_: Any) -> Any:
        begun.set()
        assert asks.wait(10)
        return refs[1].ask(refs[0], timeout=10)

    with ActorSystem() as system:
        tools = runner(tool_executor(system), hang_and_ask)
        refs += [system.spawn(Caller, tools), system.spawn(Asker)]
        given_up = refs[0].aask("go")
        assert begun.wait(10)
        given_up.cancel()
        assert refs[0].ask("ping", timeout=10) == "pong"
        asks.set()
        assert refs[1].ask(refs[0], timeout=10) == "pong"


@pytest.mark.parametrize("blocking", [True, False])
def test_a_tool_that_asks_its_own_caller_is_told_of_the_ring(blocking: bool) -> None:
    refs: list[ActorRef[Any]] = []

    async def on_the_loop(_: Any) -> Any:
        return await refs[0].aask("ping")

    with ActorSystem() as system:
        run = (lambda _: refs[0].ask("ping")) if blocking else on_the_loop
        refs.append(system.spawn(Caller, runner(tool_executor(system), run), name="caller"))
        result = refs[0].ask("go", timeout=10)
        assert result["status"] == "error"
        assert "/user/caller" in result["error"]
        assert "tool-executor#" in result["error"]


def test_a_bench_lasts_until_its_executor_is_restarted() -> None:
    with ActorSystem() as system:
        executor = system.spawn(Fragile, name="executor", restart="permanent")
        tools = runner(executor, lambda _: "ran")
        caller = system.spawn(Caller, tools)
        assert caller.ask("go", timeout=10) == "ran"
        first = tools._bench
        assert caller.ask("go", timeout=10) == "ran"
        assert tools._bench is first
        executor.tell("fail")
        assert executor.ask("still there?", timeout=10) is None
        assert caller.ask("go", timeout=10) == "ran"
        assert tools._bench is not first


@pytest.mark.parametrize("is_coroutine", [True, False])
@on_loop
async def test_a_runner_works_on_any_loop(is_coroutine: bool) -> None:
    async def coroutine(_: Any) -> str:
        return "ran"

    with ActorSystem() as system:
        run = coroutine if is_coroutine else lambda _: "ran"
        assert await runner(tool_executor(system), run).run("demo", {}) == "ran"


@pytest.mark.parametrize("where", ["on the system's loop", "on another loop"])
def test_a_coroutine_that_refuses_to_be_cancelled_is_left_at_its_deadline(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "LET_GO_S", 0.01)
    may_end = threading.Event()

    async def stubborn(_: Any) -> str:
        while not may_end.is_set():
            try:
                await asyncio.sleep(0.001)
            except asyncio.CancelledError:
                pass
        return "at last"

    with ActorSystem() as system:
        tools = runner(tool_executor(system), stubborn, timeout_s=0.01)
        if where == "on another loop":
            got = asyncio.run(tools.run("demo", {}))
        else:
            got = system.spawn(Caller, tools).ask("go", timeout=10)
        may_end.set()
    assert got == {"status": "error", "error": "tool 'demo' did not end within 0.01 s"}
