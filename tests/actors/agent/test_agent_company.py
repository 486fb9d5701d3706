"""Agents among others: plain pykka actors, agents as tools of agents, and rings of them."""

from __future__ import annotations

from typing import Any

import pykka
import pytest

from actors import AgentRef, tool
from actors.testing import Failure, RecordedRequest, answer
from actors.testing.replies import Reply
from runtime import Actor, AskCycle, as_reply
from tests.actors.agent.scene import say, use
from tests.actors.agent.stage import LIMIT_S, Stage, ask, last_text


class Curious(pykka.ThreadingActor):
    """A plain pykka actor that asks an agent."""

    def __init__(self, agent: AgentRef) -> None:
        super().__init__()
        self._agent = agent

    def on_receive(self, message: Any) -> str:
        """Pass the question on."""
        return self._agent.process_query(message, timeout=LIMIT_S).result


class Shouter(pykka.ThreadingActor):
    """A plain pykka actor that an agent's tool asks."""

    def on_receive(self, message: Any) -> str:
        """Answer in capitals."""
        return str(message).upper()


class Clerk(Actor):
    """An actor of the runtime that asks an agent without holding the loop."""

    def __init__(self, agent: AgentRef) -> None:
        super().__init__()
        self._agent = agent

    async def on_receive(self, message: Any) -> str:
        """Pass the question on."""
        return (await self._agent.aprocess_query(message)).result


def test_a_plain_pykka_actor_asks_an_agent() -> None:
    with Stage([answer("hello")]) as stage:
        curious = Curious.start(stage.agent())
        try:
            assert curious.ask("hi", timeout=LIMIT_S) == "hello"
        finally:
            curious.stop()


def test_an_actor_asks_an_agent_and_awaits_it() -> None:
    with Stage([answer("hello")]) as stage:
        assert stage.system.spawn(Clerk, stage.agent()).ask("hi", timeout=LIMIT_S) == "hello"


def test_a_tool_asks_a_pykka_actor_from_its_thread() -> None:
    shouter = Shouter.start()

    @tool
    def shout(text: str) -> str:
        """Say it louder."""
        return str(shouter.ask(text, timeout=LIMIT_S))

    try:
        with Stage([use("shout", text="hey"), say(answer="done")]) as stage:
            ask(stage.agent(shout))
            assert last_text(stage.server.chats[1]) == '"HEY"'
    finally:
        shouter.stop()


def test_a_coroutine_tool_awaits_a_pykka_actor() -> None:
    shouter = Shouter.start()

    @tool
    async def shout(text: str) -> str:
        """Say it louder."""
        return str(await as_reply(shouter.ask(text, block=False)))

    try:
        with Stage([use("shout", text="hey"), say(answer="done")]) as stage:
            ask(stage.agent(shout))
            assert last_text(stage.server.chats[1]) == '"HEY"'
    finally:
        shouter.stop()


# -- an agent as a tool of another --------------------------------------------------------------------


def by_model(**scripts: list[Reply]) -> Any:
    """A script for several agents: each, known by the name of its model, gets replies of its own."""
    iterators = {name: iter(replies) for name, replies in scripts.items()}

    def reply(request: RecordedRequest) -> Reply:
        return next(iterators[request.json["model"]])

    return reply


def test_an_agent_is_a_tool_of_another() -> None:
    script = by_model(
        boss=[use("expert", request="what is 6 x 7?"), say(answer="it is 42")],
        expert=[answer("42")],
    )
    with Stage(script) as stage:
        expert = stage.agent(model="expert")
        boss = stage.agent(expert.as_tool("expert", "Knows numbers."), model="boss")
        assert ask(boss).result == "it is 42"
        assert last_text(stage.server.chats[1]) == "what is 6 x 7?"
        assert last_text(stage.server.chats[2]) == '{"answer":"42"}'


def test_an_expert_without_an_answer_is_a_failed_tool() -> None:
    script = by_model(
        boss=[use("expert", request="?"), say(answer="nobody knows")],
        expert=[use("nothing"), use("nothing")],
    )
    with Stage(script) as stage:
        expert = stage.agent(model="expert", max_steps=1)
        boss = stage.agent(expert.as_tool("expert", "Knows."), model="boss")
        assert ask(boss).result == "nobody knows"
        assert "nothing" in str(stage.server.chats[2].json["messages"])


def test_cancelling_the_asker_cancels_the_expert_too() -> None:
    script = by_model(boss=[use("expert", request="?")], expert=[Failure("silent")])
    with Stage(script) as stage:
        expert = stage.agent(model="expert")
        boss = stage.agent(expert.as_tool("expert", "Knows."), model="boss")
        reply = boss.aprocess_query("go")
        stage.server.wait_until(lambda server: len(server.chats) == 2)
        boss.cancel()
        assert reply.get(timeout=5).outcome == "cancelled"
        stage.server.wait_until(lambda server: server.hangups == 1)


def test_two_agents_talk_in_turns() -> None:
    script = by_model(
        boss=[
            use("expert", request="first?"),
            use("expert", request="second?"),
            say(answer="enough"),
        ],
        expert=[answer("one"), answer("two")],
    )
    with Stage(script) as stage:
        expert = stage.agent(model="expert")
        boss = stage.agent(expert.as_tool("expert", "Knows."), model="boss")
        assert ask(boss).result == "enough"
        assert [m.content for m in expert.history()] == ["first?", "one", "second?", "two"]


def test_a_ring_of_agents_is_an_error_result_that_names_the_ring() -> None:
    script = by_model(
        a=[use("b", request="over to you"), say(answer="b could not")],
        b=[use("a", request="back to you"), say(answer="a is busy with me")],
    )
    with Stage(script) as stage:
        a = stage.agent(model="a", setup={"name": "agent-a"})
        b = stage.agent(a.as_tool("a", "Asks a."), model="b", setup={"name": "agent-b"})
        a.add_tool(b.as_tool("b", "Asks b."))
        assert ask(a).outcome == "answered"
        told = str(b.history())
        assert "/user/agent-a" in told
        assert "/user/agent-b" in told


def test_two_agents_that_ask_each_other_at_the_same_moment_both_end() -> None:
    def script(request: RecordedRequest) -> Reply:
        model, said = request.json["model"], str(request.json["messages"])
        if "status" in said and "error" in said and "/user/" in said:
            return say(answer="ring")
        if last_text(request) == "start":
            return use("b" if model == "a" else "a", request="you?")
        return say(answer="done")

    with Stage(script) as stage:
        a = stage.agent(model="a", setup={"name": "agent-a"})
        b = stage.agent(a.as_tool("a", "Asks a."), model="b", setup={"name": "agent-b"})
        a.add_tool(b.as_tool("b", "Asks b."))
        replies = [a.aprocess_query("start"), b.aprocess_query("start")]
        outcomes = [reply.get(timeout=LIMIT_S).outcome for reply in replies]
        assert outcomes == ["answered", "answered"]


@pytest.mark.parametrize("kind", ["plain", "coroutine"])
def test_a_tool_that_asks_its_own_agent_gets_the_ring(kind: str) -> None:
    caught: list[BaseException] = []

    with Stage([use("back"), say(answer="refused")]) as stage:

        def plain() -> str:
            """Ask back."""
            try:
                return ask(agent, "me again").result
            except AskCycle as error:
                caught.append(error)
                raise

        async def coroutine() -> str:
            """Ask back."""
            try:
                return (await agent.aprocess_query("me again")).result
            except AskCycle as error:
                caught.append(error)
                raise

        agent = stage.agent(tool(name="back")(plain if kind == "plain" else coroutine))
        assert ask(agent).result == "refused"
        assert len(caught) == 1
        assert agent.path in str(caught[0])


def test_a_tool_that_reads_its_own_agents_history_gets_the_ring() -> None:
    with Stage([use("recall"), say(answer="I cannot")]) as stage:

        @tool
        def recall() -> int:
            """Count what was said."""
            return len(agent.history())

        agent = stage.agent(recall)
        assert ask(agent).result == "I cannot"
        assert agent.path in str(stage.server.chats[1].json["messages"])
