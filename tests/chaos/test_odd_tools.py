"""Whatever a tool does, its turn ends with a result, and its agent answers the next question."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Generator
from typing import Any

import pytest

from actors import AgentRef, tool
from actors.agent.history import repair_pairs
from actors.model.message import Message
from actors.testing import answer, tool_calls
from actors.tools.tool import Tool
from tests.actors.agent.stage import LIMIT_S, Stage, ask


class Panic(BaseException):
    """No `Exception`."""


class Speechless(Exception):
    """Cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


class LyingDict(dict[str, Any]):
    """Raises where one looks."""

    def items(self) -> Any:
        raise RuntimeError("a lie")

    def get(self, *_: Any) -> Any:
        raise RuntimeError("another lie")


def circle() -> list[Any]:
    made: list[Any] = []
    made.append(made)
    return made


def abyss() -> list[Any]:
    made: list[Any] = []
    for _ in range(100_000):
        made = [made]
    return made


def generator() -> Generator[int, None, None]:
    yield 1


class BadAwaitable:
    """Fails when it is awaited."""

    def __await__(self) -> Any:
        raise RuntimeError("not today")


GIVEN: dict[str, Callable[[], Any]] = {
    "50 MB": lambda: "x" * 50_000_000,
    "a circle": circle,
    "an abyss": abyss,
    "bytes": lambda: b"\xff\x00",
    "NaN": lambda: [float("nan"), float("inf")],
    "a huge number": lambda: 10**5000,
    "odd keys": lambda: {(1, 2): 3, 4: 5},
    "half a surrogate pair": lambda: {"\ud800": "\udcff"},
    "a generator": generator,
    "an object": object,
    "a lying dict": LyingDict,
    "a bad awaitable": BadAwaitable,
    "a function": lambda: print,
    "a status of its own": lambda: {"status": "error", "error": {"deep": [1]}},
}


def raising(error: BaseException) -> Callable[[], Any]:
    def run() -> Any:
        raise error

    return run


def recursion() -> Any:
    return recursion()


RAISED: dict[str, Callable[[], Any]] = {
    "a panic": raising(Panic("native code")),
    "exit": lambda: sys.exit(3),
    "StopIteration": raising(StopIteration(3)),
    "CancelledError": raising(asyncio.CancelledError()),
    "a speechless error": raising(Speechless()),
    "an error in half a surrogate pair": raising(ValueError("\udcff")),
    "MemoryError": raising(MemoryError()),
    "a group": raising(BaseExceptionGroup("both", [Panic("a"), ValueError("b")])),
    "endless recursion": recursion,
}


def odd_tool(work: Callable[[], Any], kind: str) -> Tool:
    def plain() -> Any:
        return work()

    async def on_the_loop() -> Any:
        return work()

    chosen = plain if kind == "def" else on_the_loop
    return tool(name="odd", description="odd", timeout_s=20)(chosen)


def assert_survives(stage: Stage, agent: AgentRef) -> Message:
    """Ask twice; the message that told the model of the tool's result."""
    assert ask(agent).result == "after the tool"
    history = agent.history()
    assert repair_pairs(history) == history
    assert ask(agent).result == "next"
    stage.server.assert_finished()
    return next(each for each in history if each.role == "tool")


def script() -> list[Any]:
    return [tool_calls(("c", "odd", "{}")), answer("after the tool"), answer("next")]


@pytest.mark.parametrize("kind", ["def", "async def"])
@pytest.mark.parametrize("work", GIVEN.values(), ids=GIVEN)
def test_a_tool_may_give_anything(work: Callable[[], Any], kind: str) -> None:
    with Stage(script()) as stage:
        agent = stage.agent(odd_tool(work, kind), native_tool_calls="always")
        assert len(assert_survives(stage, agent).content) < 5_000


@pytest.mark.parametrize("kind", ["def", "async def"])
@pytest.mark.parametrize("work", RAISED.values(), ids=RAISED)
def test_a_tool_may_raise_anything_but_an_interrupt(work: Callable[[], Any], kind: str) -> None:
    with Stage(script()) as stage:
        agent = stage.agent(odd_tool(work, kind), native_tool_calls="always")
        assert "Tool execution failed: " in assert_survives(stage, agent).content


def test_a_tool_may_stop_the_agent_it_works_for() -> None:
    agents: list[AgentRef] = []

    def stop() -> str:
        agents[0].stop(block=False)
        return "stopped"

    with Stage([tool_calls(("c", "odd", "{}")), answer("last words")]) as stage:
        agents.append(stage.agent(odd_tool(stop, "def"), native_tool_calls="always"))
        assert ask(agents[0]).result == "last words"
        assert agents[0].stop(timeout=LIMIT_S) in (True, False)
        assert not agents[0].is_alive()


def test_a_tool_may_start_agents_and_ask_them() -> None:
    with Stage([answer("yes")] * 10) as inner, Stage(script()) as outer:

        def ask_ten() -> list[str]:
            return [ask(inner.agent()).result for _ in range(10)]

        agent = outer.agent(odd_tool(ask_ten, "def"), native_tool_calls="always")
        assert assert_survives(outer, agent).content == '["yes",' + '"yes",' * 8 + '"yes"]'


def test_ten_thousand_calls_of_one_reply_are_run_and_can_be_cancelled() -> None:
    @tool(parallel_safe=True)
    async def count(n: int) -> int:
        """Give n back."""
        return n

    calls = tool_calls(*[(f"c{n}", "count", f'{{"n": {n}}}') for n in range(10_000)])
    with Stage([calls, answer("done"), calls, answer("next")]) as stage:
        agent = stage.agent(count, native_tool_calls="always", max_history_messages=0)
        assert ask(agent).result == "done"
        assert len(agent.history()) == 10_003
        reply = agent.aprocess_query("again")
        stage.server.wait_until(lambda server: len(server.chats) == 3)
        agent.cancel()
        assert reply.get(timeout=LIMIT_S).outcome in ("cancelled", "answered")
        history = agent.history()
        assert repair_pairs(history) == history


def test_a_thread_that_asks_the_agent_of_its_tool_waits_no_longer_than_it_wants() -> None:
    agents: list[AgentRef] = []
    heard: list[str] = []

    def call_back() -> str:
        def ask_back() -> None:
            try:
                agents[0].process_query("hm", timeout=0.05)
            except Exception as error:
                heard.append(type(error).__name__)

        # A thread of the tool's own is not known to wait for the tool's agent.
        thread = threading.Thread(target=ask_back)
        thread.start()
        thread.join()
        return "called"

    with Stage(script()) as stage:
        agents.append(stage.agent(odd_tool(call_back, "def"), native_tool_calls="always"))
        assert_survives(stage, agents[0])
    assert heard == ["Timeout"]
