"""How agents end and come back: failures, restarts, stops in the middle of a turn, full mailboxes."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from actors import Agent, OutputHandler, SilentHandler, tool
from actors.model.provider import ModelReply, ModelRequest, TokenSink
from actors.testing import Failure, answer
from runtime import (
    ActorDeadError,
    ActorFailed,
    ActorRestarted,
    Cancelled,
    MailboxFull,
    Supervisor,
)
from tests.actors.agent.scene import use
from tests.actors.agent.stage import LIMIT_S, Stage, ask


class Brittle(SilentHandler):
    """An output handler with a bug: it fails at the answers that it is told to fail at."""

    def __init__(self, fails: int) -> None:
        super().__init__(silence_final_answer=True)
        self._fails = fails

    def print_final_answer(self, answer: str, usage: Any = None) -> None:
        """Fail, or not."""
        self._fails -= 1
        if self._fails >= 0:
            raise ZeroDivisionError("a bug of the handler")


def supervised(stage: Stage, output: OutputHandler, **settings: Any) -> Any:
    """A permanent agent under a supervisor of its own."""
    pool = stage.system.spawn(Supervisor, name="pool")
    setup = {"output": output, "supervisor": pool, "restart": "permanent", "name": "clerk"}
    return stage.agent(setup=setup, **settings)


def test_a_bug_in_an_output_handler_fails_the_agent_and_its_supervisor_brings_it_back() -> None:
    with Stage([answer("one"), answer("two")]) as stage:
        told: list[object] = []
        stage.system.events.subscribe(told.append, ActorFailed)
        stage.system.events.subscribe(told.append, ActorRestarted)
        agent = supervised(stage, Brittle(fails=1))
        with pytest.raises(ZeroDivisionError):
            ask(agent)
        assert ask(agent, "again").result == "two"
        assert agent.is_alive()
        kinds = [type(event) for event in told]
        assert kinds == [ActorFailed, ActorRestarted]


def test_an_agent_that_came_back_begins_with_the_history_it_was_given() -> None:
    with Stage([answer("one"), answer("two")]) as stage:
        agent = supervised(stage, Brittle(fails=1))
        with pytest.raises(ZeroDivisionError):
            ask(agent, "lost")
        ask(agent, "kept")
        assert [m.content for m in agent.history()] == ["kept", "two"]


def test_questions_that_waited_are_answered_by_the_agent_that_came_back() -> None:
    with Stage([answer("one"), answer("two"), answer("three")]) as stage:
        agent = supervised(stage, Brittle(fails=1))
        replies = [agent.aprocess_query(f"q{n}") for n in range(3)]
        with pytest.raises(ZeroDivisionError):
            replies[0].get(timeout=LIMIT_S)
        assert [r.get(timeout=LIMIT_S).result for r in replies[1:]] == ["two", "three"]


class Buggy:
    """A model provider of the caller's own: fails with a bug, then answers."""

    name = "buggy"
    local = True

    def __init__(self) -> None:
        self.calls = 0

    async def available(self) -> bool:
        """Always."""
        return True

    async def prepare(self, model: str, context_size: int) -> None:
        """Nothing to do."""

    async def generate(self, request: ModelRequest) -> ModelReply:
        """A bug at the first call."""
        self.calls += 1
        if self.calls == 1:
            raise KeyError("a bug of the provider")
        return ModelReply("well")

    async def stream(self, request: ModelRequest, on_token: TokenSink) -> ModelReply:
        """As `generate`."""
        return await self.generate(request)


def test_a_bug_in_a_provider_of_ones_own_fails_the_agent_and_it_comes_back() -> None:
    with Stage() as stage:
        pool = stage.system.spawn(Supervisor, name="pool")
        setup = {"provider": Buggy(), "supervisor": pool, "restart": "permanent"}
        agent = stage.agent(setup=setup)
        with pytest.raises(KeyError):
            ask(agent)
        assert ask(agent).result == "well"


def test_an_unexpected_message_does_not_end_an_agent() -> None:
    with Stage([answer("still here")]) as stage:
        agent = stage.agent()
        agent.tell({"what": "is this"})
        assert ask(agent).result == "still here"


def test_an_agent_that_fails_with_nobody_to_bring_it_back_is_dead_for_its_askers() -> None:
    with Stage([answer("one")]) as stage:
        agent = stage.agent(setup={"output": Brittle(fails=1)})
        first, second = agent.aprocess_query("a"), agent.aprocess_query("b")
        with pytest.raises(ZeroDivisionError):
            first.get(timeout=LIMIT_S)
        with pytest.raises(ActorDeadError):
            second.get(timeout=LIMIT_S)


# -- the end ------------------------------------------------------------------------------------------


def test_stopping_an_agent_ends_its_turn_and_answers_whoever_waits() -> None:
    with Stage([Failure("silent")]) as stage:
        agent = stage.agent()
        replies = [agent.aprocess_query(f"q{n}") for n in range(5)]
        stage.server.wait_until(lambda server: len(server.chats) == 1)
        agent.stop(timeout=LIMIT_S, mode="now")
        with pytest.raises((ActorDeadError, Cancelled)):
            replies[0].get(timeout=LIMIT_S)
        for reply in replies[1:]:
            with pytest.raises(ActorDeadError):
                reply.get(timeout=LIMIT_S)
        stage.server.wait_until(lambda server: server.hangups == 1)


def test_a_drained_agent_answers_first_what_was_asked_before() -> None:
    with Stage([answer("one"), answer("two")]) as stage:
        agent = stage.agent()
        replies = [agent.aprocess_query("a"), agent.aprocess_query("b")]
        agent.stop(timeout=LIMIT_S)
        assert [reply.get(timeout=LIMIT_S).result for reply in replies] == ["one", "two"]
        with pytest.raises(ActorDeadError):
            ask(agent)


@pytest.mark.parametrize("busy", ["model", "coroutine", "thread"])
def test_a_system_that_ends_in_the_middle_of_a_turn_leaves_nothing(busy: str) -> None:
    """What is left would be found by the fixture that looks after every test."""
    started, release = threading.Event(), threading.Event()

    @tool(name="wait")
    async def coroutine() -> None:
        """Wait for ever."""
        started.set()
        await asyncio.get_running_loop().create_future()

    @tool(name="wait")
    def thread() -> None:
        """Wait for the end of the test."""
        started.set()
        release.wait(LIMIT_S)

    first = Failure("silent") if busy == "model" else use("wait")
    with Stage([first]) as stage:
        agent = stage.agent(thread if busy == "thread" else coroutine)
        reply = agent.aprocess_query("go")
        if busy == "model":
            stage.server.wait_until(lambda server: len(server.chats) == 1)
        else:
            assert started.wait(LIMIT_S)
        ending = threading.Thread(target=stage.system.shutdown)
        ending.start()
        with pytest.raises((ActorDeadError, Cancelled)):
            reply.get(timeout=LIMIT_S)
        release.set()
        ending.join(LIMIT_S)
        assert not ending.is_alive()


def test_many_agents_in_the_middle_of_turns_end_with_their_system() -> None:
    with Stage(lambda _: Failure("silent")) as stage:
        replies = [stage.agent().aprocess_query("go") for _ in range(50)]
        stage.server.wait_until(lambda server: len(server.chats) == 50)
        stage.system.shutdown()
        for reply in replies:
            with pytest.raises((ActorDeadError, Cancelled)):
                reply.get(timeout=LIMIT_S)
        stage.server.wait_until(lambda server: server.hangups == 50)


# -- too much -----------------------------------------------------------------------------------------


class Narrow(Agent):
    """An agent with room for two questions."""

    capacity = 2


def test_one_question_too_many_is_refused_and_the_others_are_answered() -> None:
    with Stage([Failure("silent"), answer("b"), answer("c")]) as stage:
        agent = Narrow.spawn(stage.system, stage.config())
        first = agent.aprocess_query("a")
        stage.server.wait_until(lambda server: len(server.chats) == 1)
        waiting = [agent.aprocess_query("b"), agent.aprocess_query("c")]
        with pytest.raises(MailboxFull):
            ask(agent, "d")
        agent.cancel()
        assert first.get(timeout=LIMIT_S).outcome == "cancelled"
        assert [reply.get(timeout=LIMIT_S).result for reply in waiting] == ["b", "c"]


def test_a_cancel_reaches_an_agent_whose_mailbox_is_full() -> None:
    with Stage([Failure("silent"), answer("b"), answer("c")]) as stage:
        agent = Narrow.spawn(stage.system, stage.config())
        replies = [agent.aprocess_query("a")]
        stage.server.wait_until(lambda server: len(server.chats) == 1)
        replies += [agent.aprocess_query("b"), agent.aprocess_query("c")]
        agent.cancel()
        assert replies[0].get(timeout=LIMIT_S).outcome == "cancelled"
