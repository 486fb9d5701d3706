"""Asking an agent: from threads and event loops, many at once, with images, streamed."""

from __future__ import annotations

import asyncio
import threading
from collections import defaultdict
from typing import Any

import pytest

from actors import Image, InvalidArgument, Message, TurnResult, tool
from actors.agent.ref import AgentRef
from actors.output import events
from actors.output.events import TurnEvent
from actors.testing import Failure, SSEReply, answer, answer_chunks
from tests.actors.agent.scene import say, use
from tests.actors.agent.stage import (
    LIMIT_S,
    Stage,
    after_tool,
    ask,
    echo_script,
    in_threads,
    last_text,
)

PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452")


@tool
def add(a: float, b: float) -> float:
    """Add two numbers."""
    return a + b


# -- one question -------------------------------------------------------------------------------------


def test_a_question_is_answered_with_the_help_of_a_tool() -> None:
    with Stage([use("add", a=2, b=3), say(thought="done", answer="5")]) as stage:
        result = ask(stage.agent(add), "What is 2 + 3?")
        assert result == TurnResult("5", 2, 20, "answered")
        assert last_text(stage.server.chats[1]) == "5.0"


def test_an_agent_is_asked_from_another_event_loop() -> None:
    with Stage([answer("hello")]) as stage:
        agent = stage.agent()

        async def main() -> TurnResult:
            return await agent.aprocess_query("hi", timeout=LIMIT_S)

        assert asyncio.run(main()).result == "hello"


def test_an_image_goes_out_beside_the_text_and_is_not_remembered() -> None:
    with Stage([answer("a dot")]) as stage:
        agent = stage.agent()
        image = Image.from_bytes(PNG)
        ask(agent, "look", images=[image])
        parts = stage.server.chats[0].json["messages"][-1]["content"]
        assert parts == [
            {"type": "text", "text": "look"},
            {"type": "image_url", "image_url": {"url": image.data_uri}},
        ]
        assert agent.history()[0] == Message("user", "look")


def test_composed_messages_go_out_as_they_are() -> None:
    said = [Message("user", "one"), Message("assistant", "two"), Message("user", "three")]
    with Stage([answer("four")]) as stage:
        ask(stage.agent(), said)
        sent = [each for each in stage.server.chats[0].json["messages"] if each["role"] != "system"]
        assert sent == [message.wire() for message in said]


def test_images_beside_composed_messages_are_refused() -> None:
    with Stage() as stage, pytest.raises(InvalidArgument, match="images"):
        ask(stage.agent(), [Message("user", "look")], images=[Image.from_bytes(PNG)])


@pytest.mark.parametrize("question", ["", [], [Message("user", "")]])
def test_a_question_that_says_nothing_is_refused_before_the_agent_hears_it(
    question: str | list[Message],
) -> None:
    with Stage() as stage, pytest.raises(InvalidArgument):
        ask(stage.agent(), question)


def test_a_limit_of_the_call_replaces_the_configured_one() -> None:
    with Stage([use("add", a=1, b=1), use("add", a=1, b=2)]) as stage:
        result = ask(stage.agent(add, max_steps=9), max_steps=2)
        assert (result.outcome, result.steps_taken, result.steps_limit) == ("limit", 2, 2)


@pytest.mark.parametrize("question", [None, 7, b"bytes", ["a text"], [None], Message])
def test_what_is_no_question_is_refused_before_the_agent_is_asked(question: Any) -> None:
    with Stage([answer("hello")]) as stage:
        agent = stage.agent()
        with pytest.raises(InvalidArgument, match="got"):
            ask(agent, question)
        assert ask(agent).result == "hello"


@pytest.mark.parametrize("max_steps", ["3", 1.5, None])
def test_a_step_limit_that_is_no_number_is_refused_before_the_agent_is_asked(
    max_steps: Any,
) -> None:
    with Stage([answer("hello")]) as stage:
        agent = stage.agent()
        with pytest.raises(InvalidArgument, match="max_steps"):
            ask(agent, max_steps=max_steps)
        assert ask(agent).result == "hello"


# -- many at once -------------------------------------------------------------------------------------


def test_turns_of_one_agent_never_overlap_however_many_threads_ask() -> None:
    running: list[int] = []

    @tool
    async def stand_alone() -> int:
        """Counts how many run at once."""
        running.append(1)
        await asyncio.sleep(0)
        count = len(running)
        running.pop()
        return count

    with Stage(after_tool(use("stand_alone"), say(answer="ok"))) as stage:
        agent = stage.agent(stand_alone)
        results = in_threads(*[lambda: ask(agent).result] * 16)
        assert results == ["ok"] * 16
        told = [last_text(each) for each in stage.server.chats]
        assert told.count("1") == 16


def test_questions_of_one_thread_are_answered_in_their_order() -> None:
    with Stage(echo_script) as stage:
        agent = stage.agent(max_history_messages=1)

        def ask_ten(name: str) -> list[str]:
            replies = [agent.aprocess_query(f"{name} {n}") for n in range(10)]
            return [reply.get(timeout=LIMIT_S).result for reply in replies]

        names = ["a", "b", "c", "d"]
        results = in_threads(*[lambda name=name: ask_ten(name) for name in names])
        assert results == [[f"{name} {n}" for n in range(10)] for name in names]
        order: dict[str, list[int]] = defaultdict(list)
        for request in stage.server.chats:
            name, number = last_text(request).split()
            order[name].append(int(number))
        assert order == {name: list(range(10)) for name in names}


def test_two_hundred_agents_answer_at_once() -> None:
    with Stage(after_tool(use("add", a=1, b=2), say(answer="3"))) as stage:
        agents = [stage.agent(add) for _ in range(200)]
        replies = [agent.aprocess_query("1 + 2?") for agent in agents]
        results = {reply.get(timeout=LIMIT_S) for reply in replies}
        assert results == {TurnResult("3", 2, 20, "answered")}


# -- streaming ----------------------------------------------------------------------------------------


def collect(agent: AgentRef, question: str = "hi") -> list[TurnEvent | TurnResult]:
    """Everything a stream gives."""

    async def main() -> list[TurnEvent | TurnResult]:
        return [item async for item in agent.astream(question)]

    return asyncio.run(asyncio.wait_for(main(), LIMIT_S))


def test_a_stream_gives_the_tokens_in_order_and_the_result_last() -> None:
    with Stage([SSEReply(answer_chunks("hel", "lo"))]) as stage:
        items = collect(stage.agent(streaming=True))
        assert [i.text for i in items if isinstance(i, events.TokenReceived)] == ["hel", "lo"]
        assert isinstance(items[0], events.TurnStarted)
        assert items[-1] == TurnResult("hello", 1, 20, "answered")
        assert isinstance(items[-2], events.TurnFinished)


def test_a_stream_shows_the_steps_of_an_agent_that_does_not_stream() -> None:
    with Stage([use("add", a=2, b=3), say(answer="5")]) as stage:
        items = collect(stage.agent(add))
        kinds = [type(item) for item in items]
        assert kinds.index(events.ToolChosen) < kinds.index(events.ToolFinished)
        assert kinds.count(events.StepStarted) == 2
        assert events.AnswerGiven in kinds


def test_a_stream_raises_what_the_question_raises() -> None:
    with Stage() as stage, pytest.raises(InvalidArgument):
        collect(stage.agent(), "")


@pytest.mark.parametrize("streaming", [True, False])
def test_leaving_a_stream_early_cancels_the_turn(streaming: bool) -> None:
    silent = SSEReply(answer_chunks("one", done=False), ending="silent")
    with Stage([silent if streaming else Failure("silent"), answer("next")]) as stage:
        agent = stage.agent(streaming=streaming)

        async def leave() -> None:
            wanted = events.TokenReceived if streaming else events.ProgressStarted
            async for item in agent.astream("hi"):
                if isinstance(item, wanted):
                    await asyncio.to_thread(stage.server.wait_until, lambda s: len(s.chats) == 1)
                    break

        asyncio.run(asyncio.wait_for(leave(), LIMIT_S))
        stage.server.wait_until(lambda server: server.hangups == 1)
        agent.update_config(streaming=False)
        assert ask(agent).result == "next"


def test_a_listener_whose_loop_was_closed_does_not_harm_the_agent() -> None:
    """1. The listener's loop ends, which takes the question back. 2. The turn has more to tell.

    The tool holds the system's loop, so that the turn hears of the first only after the second.
    """
    begun, go_on = threading.Event(), threading.Event()

    @tool
    async def hold() -> None:
        """Hold the loop until the listener's is closed."""
        begun.set()
        go_on.wait(LIMIT_S)

    async def listen(agent: AgentRef) -> None:
        async for item in agent.astream("hi"):
            if isinstance(item, events.ToolChosen):
                await asyncio.to_thread(begun.wait, LIMIT_S)
                return

    with Stage([use("hold"), answer("two")]) as stage:
        agent = stage.agent(hold)
        asyncio.run(listen(agent))
        go_on.set()
        assert ask(agent).result == "two"


def test_a_tool_that_streams_its_own_agent_gets_the_ring() -> None:
    @tool
    async def back() -> str:
        """Ask back."""
        return str([item async for item in agent.astream("me again")])

    with Stage([use("back"), say(answer="refused")]) as stage:
        agent = stage.agent(back)
        assert ask(agent).result == "refused"
        assert agent.path in str(stage.server.chats[1].json["messages"])


def test_two_streams_of_one_agent_wait_for_each_other() -> None:
    with Stage([answer("one"), answer("two")]) as stage:
        agent = stage.agent()

        async def last(question: str) -> TurnEvent | TurnResult:
            return [item async for item in agent.astream(question)][-1]

        async def both() -> list[TurnEvent | TurnResult]:
            return list(await asyncio.gather(last("a"), last("b")))

        texts = [item.result for item in asyncio.run(both()) if isinstance(item, TurnResult)]
        assert texts == ["one", "two"]
