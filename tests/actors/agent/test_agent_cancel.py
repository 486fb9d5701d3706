"""Ending a turn early: by `cancel`, by a cancelled await, by a deadline, by a silence of the server."""

from __future__ import annotations

import asyncio
import threading

import pytest

from actors import Message, tool
from actors.agent.result import TurnResult
from actors.testing import Failure, SSEReply, answer, answer_chunks
from runtime import Cancelled, Timeout
from tests.actors.agent.scene import say, use
from tests.actors.agent.stage import LIMIT_S, Stage, ask

PROMPTLY_S = 5.0
"""Bound of a wait for the end of a cancelled turn; it takes milliseconds."""


def test_a_cancel_closes_the_connection_of_a_running_request() -> None:
    with Stage([Failure("silent"), answer("next")]) as stage:
        agent = stage.agent()
        reply = agent.aprocess_query("hi")
        stage.server.wait_until(lambda server: len(server.chats) == 1)
        agent.cancel()
        assert reply.get(timeout=PROMPTLY_S).outcome == "cancelled"
        stage.server.wait_until(lambda server: server.hangups == 1)
        assert ask(agent).result == "next"


def test_a_cancel_breaks_off_a_stream() -> None:
    silent = SSEReply(answer_chunks("one", done=False), ending="silent")
    with Stage([silent]) as stage:
        agent = stage.agent(streaming=True)
        reply = agent.aprocess_query("hi")
        stage.server.wait_until(lambda server: len(server.chats) == 1)
        agent.cancel()
        assert reply.get(timeout=PROMPTLY_S).outcome == "cancelled"


def test_a_cancel_ends_a_coroutine_tool() -> None:
    started, ended = threading.Event(), threading.Event()

    @tool
    async def for_ever() -> None:
        """Ends only by being cancelled."""
        started.set()
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            ended.set()

    with Stage([use("for_ever")]) as stage:
        agent = stage.agent(for_ever)
        reply = agent.aprocess_query("hi")
        assert started.wait(LIMIT_S)
        agent.cancel()
        result = reply.get(timeout=PROMPTLY_S)
        assert (result.outcome, result.steps_taken) == ("cancelled", 1)
        assert ended.wait(LIMIT_S)
        assert "whether it took effect is unknown" in agent.history()[-1].content


def test_a_cancel_lets_go_of_a_blocking_tool() -> None:
    started, release = threading.Event(), threading.Event()

    @tool
    def stubborn() -> str:
        """Holds its thread until the test is over."""
        started.set()
        release.wait(LIMIT_S)
        return "late"

    with Stage([use("stubborn"), answer("next")]) as stage:
        agent = stage.agent(stubborn)
        reply = agent.aprocess_query("hi")
        assert started.wait(LIMIT_S)
        agent.cancel()
        try:
            assert reply.get(timeout=PROMPTLY_S).outcome == "cancelled"
            assert ask(agent).result == "next"
        finally:
            release.set()


def test_a_cancel_leaves_waiting_questions_alone() -> None:
    with Stage([Failure("silent"), answer("second")]) as stage:
        agent = stage.agent()
        first, second = agent.aprocess_query("one"), agent.aprocess_query("two")
        stage.server.wait_until(lambda server: len(server.chats) == 1)
        agent.cancel()
        assert first.get(timeout=PROMPTLY_S).outcome == "cancelled"
        assert second.get(timeout=LIMIT_S).result == "second"


def test_a_cancel_without_a_turn_does_nothing_to_the_next_one() -> None:
    with Stage([answer("hello")]) as stage:
        agent = stage.agent()
        agent.cancel()
        assert ask(agent).result == "hello"


def test_a_tool_may_cancel_the_turn_it_runs_in_and_its_result_is_kept() -> None:
    with Stage([use("enough")]) as stage:

        @tool
        async def enough() -> str:
            """Ends the turn."""
            agent.cancel()
            return "last words"

        agent = stage.agent(enough)
        assert ask(agent).outcome == "cancelled"
        assert "last words" in agent.history()[-1].content


def test_a_cancelled_await_cancels_the_turn() -> None:
    with Stage([Failure("silent"), answer("next")]) as stage:
        agent = stage.agent()

        async def give_up() -> None:
            task = asyncio.ensure_future(wait_for_answer())
            await asyncio.to_thread(stage.server.wait_until, lambda s: len(s.chats) == 1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        async def wait_for_answer() -> TurnResult:
            return await agent.aprocess_query("hi")

        asyncio.run(give_up())
        stage.server.wait_until(lambda server: server.hangups == 1)
        assert ask(agent).result == "next"


def test_an_await_out_of_time_cancels_the_turn() -> None:
    with Stage([Failure("silent")]) as stage:
        agent = stage.agent()

        async def impatient() -> None:
            with pytest.raises(Timeout):
                await agent.aprocess_query("hi", timeout=0.5)

        asyncio.run(impatient())
        stage.server.wait_until(lambda server: server.hangups == len(server.chats))
        assert agent.history() == [Message("user", "hi")]


def test_a_blocking_ask_out_of_time_leaves_the_turn_running() -> None:
    with Stage([Failure("silent")]) as stage:
        agent = stage.agent()
        with pytest.raises(Timeout):
            agent.process_query("hi", timeout=0.01)
        stage.server.wait_until(lambda server: len(server.chats) == 1)
        assert stage.server.hangups == 0
        agent.cancel()
        stage.server.wait_until(lambda server: server.hangups == 1)


def test_a_question_taken_back_before_its_turn_is_never_asked() -> None:
    with Stage([Failure("silent"), answer("third")]) as stage:
        agent = stage.agent()
        agent.aprocess_query("one")
        second = agent.aprocess_query("two")
        stage.server.wait_until(lambda server: len(server.chats) == 1)
        second.cancel()
        agent.cancel()
        assert ask(agent, "three").result == "third"
        with pytest.raises(Cancelled):
            second.get(timeout=LIMIT_S)


def test_a_turn_past_its_deadline_ends_with_its_own_outcome() -> None:
    with Stage([Failure("silent")]) as stage:
        result = ask(stage.agent(turn_timeout_s=0.05))
        assert result.outcome == "deadline"
        assert result.result == "Stopped at the deadline of 0.05 s after 1 step(s)."


def test_a_tool_past_its_deadline_is_an_error_the_model_hears_of() -> None:
    @tool(timeout_s=0.05)
    async def for_ever() -> None:
        """Never ends."""
        await asyncio.get_running_loop().create_future()

    with Stage([use("for_ever"), say(answer="it hangs")]) as stage:
        assert ask(stage.agent(for_ever)).result == "it hangs"
        assert "did not end within 0.05 s" in str(stage.server.chats[1].json["messages"])


def test_a_silent_server_is_given_up_after_the_request_timeout() -> None:
    with Stage([Failure("silent"), Failure("silent")]) as stage:
        result = ask(stage.agent(request_timeout_s=0.05))
        assert result.outcome == "model_error"
        assert result.result.startswith("Unable to complete task due to LLM error: ")
