"""A turn that is broken off at any moment ends with a result and leaves a whole history behind."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any, cast

import pytest

from actors import AgentRef, TurnResult, tool
from actors.agent.history import repair_pairs
from actors.agent.messages import Query
from actors.model.message import Message
from actors.output.events import TurnEvent
from actors.testing import JsonReply, RecordedRequest, answer, tool_calls
from actors.testing.replies import Reply
from runtime import Cancelled
from tests.actors.agent.stage import LIMIT_S, Stage, ask

ROUNDS = 4
"""Model calls of a turn that is left alone; the last one answers."""


@tool
def add(a: int, b: int) -> int:
    """Add on a thread."""
    return a + b


@tool(parallel_safe=True)
async def add_soon(a: int, b: int) -> int:
    """Add on the loop."""
    return a + b


def script(request: RecordedRequest) -> Reply:
    """Calls of every kind, then an answer; `plain` is answered at once."""
    messages = request.json["messages"]
    if messages[-1]["content"] == "plain":
        return answer("a plain answer")
    said = list(itertools.takewhile(lambda each: each["role"] != "user", reversed(messages)))
    number = sum(each["role"] == "assistant" for each in said)
    if number == ROUNDS - 1:
        return answer("done")
    names = ["add", "add", "add_soon"] if number % 2 else ["add_soon", "add_soon"]
    calls = [(f"c{n}", name, f'{{"a": {n}, "b": {number}}}') for n, name in enumerate(names)]
    return JsonReply(tool_calls(*calls).value, delay_s=0.01)


def worker(stage: Stage, **settings: Any) -> AgentRef:
    return stage.agent(add, add_soon, native_tool_calls="always", **settings)


def assert_sound(agent: AgentRef) -> None:
    """The history is whole, and the next question is answered."""
    history = agent.history()
    assert repair_pairs(history) == history
    assert ask(agent, "plain").result == "a plain answer"
    agent.clear_history()


@pytest.mark.parametrize("streaming", [False, True])
def test_a_turn_can_be_cancelled_at_each_of_its_events(streaming: bool) -> None:
    outcomes = []
    with Stage(script) as stage:
        agent = worker(stage, streaming=streaming, max_history_messages=0)
        for moment in itertools.count(1):
            seen: list[TurnEvent] = []
            outcomes.append(ask_and_cancel_at(moment, agent, seen).outcome)
            assert_sound(agent)
            if len(seen) < moment:
                break
    assert outcomes[0] == "cancelled"
    assert outcomes[-1] == "answered"
    assert len(outcomes) > 4 * ROUNDS


def ask_and_cancel_at(moment: int, agent: AgentRef, seen: list[TurnEvent]) -> TurnResult:
    """Ask, and cancel in the very moment of an event, counted from 1; `seen` gets all events."""

    def note(event: TurnEvent) -> None:
        seen.append(event)
        if len(seen) == moment:
            agent.cancel()

    query = Query((Message("user", "work"),), sink=note)
    return cast("TurnResult", agent.ask(query, timeout=LIMIT_S))


def by_signal(agent: AgentRef, pause: Callable[[], object]) -> None:
    reply = agent.aprocess_query("work")
    pause()
    agent.cancel()
    assert reply.get(timeout=LIMIT_S).outcome in ("cancelled", "answered")


def by_reply(agent: AgentRef, pause: Callable[[], object]) -> None:
    reply = agent.aprocess_query("work")
    pause()
    reply.cancel()
    try:
        assert reply.get(timeout=LIMIT_S).outcome == "answered"
    except Cancelled:
        pass


@pytest.mark.parametrize("way", [by_signal, by_reply])
def test_a_turn_can_be_broken_off_after_any_time(
    way: Callable[[AgentRef, Callable[[], object]], None],
) -> None:
    never = threading.Event()
    with Stage(script) as stage:
        agent = worker(stage, max_history_messages=0)
        for ms in range(50):
            way(agent, lambda: never.wait(ms / 1000))  # noqa: B023  called at once
            assert_sound(agent)


def test_a_turn_may_run_out_of_time_at_any_moment() -> None:
    outcomes = set()
    with Stage(script) as stage:
        agent = worker(stage, max_history_messages=0)
        for ms in range(1, 51):
            agent.update_config(turn_timeout_s=ms / 1000)
            outcomes.add(ask(agent, "work").outcome)
            agent.update_config(turn_timeout_s=None)
            assert_sound(agent)
    assert outcomes <= {"deadline", "answered"}
    assert "deadline" in outcomes
