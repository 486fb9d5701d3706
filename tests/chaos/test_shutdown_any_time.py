"""A system that ends at a random moment under a thousand busy agents leaves nobody waiting."""

from __future__ import annotations

import random
import threading
from collections import Counter

import pytest

from actors import AgentRef, tool
from actors.testing import JsonReply, RecordedRequest, answer, tool_calls
from actors.testing.replies import Reply
from runtime import ActorDeadError
from tests.actors.agent.stage import LIMIT_S, Stage, in_threads

AGENTS = 1000


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


def script(request: RecordedRequest) -> Reply:
    """One tool call, then the answer, each after a while."""
    done = request.json["messages"][-1]["role"] == "tool"
    reply = answer("done") if done else tool_calls(("c", "add", '{"a": 1, "b": 2}'))
    return JsonReply(reply.value, delay_s=0.02)


@pytest.mark.parametrize("seed", range(3))
def test_every_caller_hears_an_answer_or_that_the_agent_is_dead(seed: int) -> None:
    moment_s = random.Random(seed).random()
    with Stage(script) as stage:
        agents = [stage.agent(add, native_tool_calls="always") for _ in range(AGENTS)]
        replies = [agent.aprocess_query("go") for agent in agents]
        threading.Event().wait(moment_s)
        stage.system.shutdown()
        ends: Counter[str] = Counter()
        for reply in replies:
            try:
                ends[reply.get(timeout=LIMIT_S).outcome] += 1
            except ActorDeadError:
                ends["dead"] += 1
    assert set(ends) <= {"answered", "dead"}
    assert ends.total() == AGENTS


def test_threads_that_ask_while_the_system_ends_hear_that_too() -> None:
    with Stage(script) as stage:
        agents = [stage.agent(add, native_tool_calls="always") for _ in range(8)]

        def ask_until_dead(agent: AgentRef) -> str:
            while True:
                try:
                    agent.process_query("go", timeout=LIMIT_S)
                except ActorDeadError:
                    return "dead"

        def end() -> str:
            stage.server.wait_until(lambda server: len(server.chats) > 50)
            stage.system.shutdown()
            return "ended"

        works = [lambda agent=agent: ask_until_dead(agent) for agent in agents]
        assert in_threads(*works, end) == ["dead"] * len(agents) + ["ended"]
