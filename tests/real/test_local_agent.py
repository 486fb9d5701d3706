"""Agents on a real model of this machine: they answer with a tool, and do not notice a server that was killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import psutil
import pytest

from actors import Agent, AgentConfig, AgentRef, TurnResult, tool
from actors.model.model_files import FoundModel
from actors.output.silent import SilentHandler
from runtime import ActorSystem
from tests.leftovers import child_pids

pytestmark = [pytest.mark.real, pytest.mark.time_limit(240)]

QUESTION = "What is 12.5 plus 30?"
LIMIT_S = 120.0


@tool
def add(a: float, b: float) -> float:
    """Add two numbers.

    Args:
        a: the first number
        b: the second number
    """
    return a + b


def config(model: FoundModel) -> AgentConfig:
    """Settings that make the answer the same every time."""
    return AgentConfig(provider="local", model=model.name, temperature=0.0, max_tokens=256)


def is_right(result: TurnResult) -> bool:
    """Whether the sum is in the answer."""
    return result.outcome == "answered" and "42.5" in result.result


def servers(before: set[int]) -> list[int]:
    """The model servers that run now."""
    return [
        pid
        for pid in child_pids()
        if pid not in before and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    ]


@pytest.fixture
def before() -> set[int]:
    """The children there are before the test."""
    return set(child_pids())


@pytest.fixture
def system(model: FoundModel, before: set[int]) -> Iterator[ActorSystem]:
    """A system; when it has ended no server of it is left."""
    with ActorSystem() as made:
        yield made
    assert servers(before) == []


def ask(agent: AgentRef) -> TurnResult:
    """Ask the question."""
    return agent.process_query(QUESTION, timeout=LIMIT_S)


def test_an_agent_answers_with_a_tool(model: FoundModel, system: ActorSystem) -> None:
    agent = Agent.spawn(system, config(model), tools=[add])
    result = ask(agent)
    assert is_right(result), result
    assert [m.content for m in agent.history() if m.role == "tool"] == ["42.5"]


def test_a_server_killed_between_two_questions_is_not_noticed(
    model: FoundModel, system: ActorSystem, before: set[int]
) -> None:
    agent = Agent.spawn(system, config(model), tools=[add])
    assert is_right(ask(agent))
    (server,) = servers(before)
    os.kill(server, signal.SIGKILL)
    agent.clear_history()
    result = ask(agent)
    assert is_right(result), result
    assert servers(before) != [server]


class Killer(SilentHandler):
    """Kills the server once, at the first piece of an answer."""

    def __init__(self, before: set[int]) -> None:
        super().__init__(silence_final_answer=True)
        self._before = before
        self.killed = 0

    def print_stream_token(self, token: str) -> None:
        """A piece has come, so more are being made."""
        if not self.killed:
            (self.killed,) = servers(self._before)
            os.kill(self.killed, signal.SIGKILL)


def test_a_server_killed_in_the_middle_of_an_answer_is_not_noticed(
    model: FoundModel, system: ActorSystem, before: set[int]
) -> None:
    killer = Killer(before)
    streaming = config(model).changed({"streaming": True})
    agent = Agent.spawn(system, streaming, tools=[add], output=killer)
    result = ask(agent)
    assert killer.killed
    assert is_right(result), result
    assert servers(before) != [killer.killed]


def test_two_agents_share_one_server(
    model: FoundModel, system: ActorSystem, before: set[int]
) -> None:
    agents = [Agent.spawn(system, config(model), tools=[add]) for _ in range(2)]
    replies = [agent.aprocess_query(QUESTION) for agent in agents]
    results = [reply.get(timeout=LIMIT_S) for reply in replies]
    assert all(is_right(result) for result in results), results
    assert len(servers(before)) == 1
