"""The model's side fails in every way it can; the agent ends its turn with a result and stays."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import pytest

from actors import Agent, AgentConfig
from actors.testing import (
    BigReply,
    BodyReply,
    Failure,
    JsonReply,
    ScriptedModelServer,
    SSEReply,
    answer,
    answer_chunks,
    unused_port,
)
from actors.testing.replies import Reply
from runtime import ActorSystem
from tests.actors.agent.stage import LIMIT_S, Stage, ask

BEGINNING = "Unable to complete task due to LLM error: "
KEY = "sk-very-secret-0123456789"

HTML = BodyReply("<html><body>gateway</body></html>", content_type="text/html")
ERROR_IN_200 = JsonReply({"error": {"message": "the model is on strike"}})
CUT_STREAM = SSEReply(answer_chunks("half an ans", done=False), ending="cut")
RESET_STREAM = SSEReply(answer_chunks("half an ans", done=False), ending="reset")

TROUBLE: dict[str, tuple[Reply, str]] = {
    "reset half-way": (Failure("reset"), ""),
    "cut half-way": (Failure("cut"), ""),
    "silent for ever": (Failure("silent"), ""),
    "500": (JsonReply({"error": {"message": "out of memory"}}, status=500), "out of memory"),
    "429 without a time": (JsonReply({"error": {"message": "slow down"}}, status=429), "slow down"),
    "HTML": (HTML, ""),
    "an error in a 200 body": (ERROR_IN_200, "the model is on strike"),
    "no choices": (JsonReply({"choices": []}), ""),
    "half a JSON": (BodyReply('{"choices": [{"mess'), ""),
    "an empty body": (BodyReply(""), ""),
    "50 MB announced": (BigReply(50_000_000), ""),
    "50 MB unannounced": (BigReply(50_000_000, announced=False), ""),
}


def trouble_then_answer(stage: Stage, **settings: Any) -> str:
    """The result of a turn in trouble, after it was seen that the agent answers the next question."""
    agent = stage.agent(request_timeout_s=0.3, **settings)
    result = ask(agent)
    assert result.outcome == "model_error"
    assert result.result.startswith(BEGINNING)
    assert result.steps_taken == 1
    agent.update_config(request_timeout_s=LIMIT_S)
    assert ask(agent).result == "well again"
    return result.result


@pytest.mark.parametrize("name", TROUBLE)
def test_trouble_twice_ends_the_turn_with_the_result_text(name: str) -> None:
    reply, fragment = TROUBLE[name]
    with Stage([reply, reply, answer("well again")]) as stage:
        assert fragment in trouble_then_answer(stage)
        stage.server.assert_finished()


@pytest.mark.parametrize("name", [name for name in TROUBLE if not name.startswith("50 MB")])
def test_trouble_once_is_overcome_within_the_turn(name: str) -> None:
    with Stage([TROUBLE[name][0], answer("well")]) as stage:
        assert ask(stage.agent(request_timeout_s=0.5)).result == "well"


@pytest.mark.parametrize("reply", [CUT_STREAM, RESET_STREAM], ids=["cut", "reset"])
def test_a_stream_that_breaks_off_before_its_end_is_no_answer(reply: Reply) -> None:
    whole = SSEReply(answer_chunks("well again"))
    with Stage([reply, reply, whole]) as stage:
        trouble_then_answer(stage, streaming=True)


@pytest.mark.parametrize("name", TROUBLE)
def test_trouble_twice_while_streaming_ends_the_turn_with_the_result_text(name: str) -> None:
    reply, fragment = TROUBLE[name]
    with Stage([reply, reply, SSEReply(answer_chunks("well again"))]) as stage:
        assert fragment in trouble_then_answer(stage, streaming=True)


def test_a_server_that_is_busy_is_asked_again_when_it_says() -> None:
    busy = JsonReply({"error": {"message": "busy"}}, status=429, headers={"retry-after": "0"})
    with Stage([busy, answer("well")]) as stage:
        result = ask(stage.agent())
        assert (result.result, result.steps_taken) == ("well", 1)


def test_nobody_at_the_address_is_a_result_that_names_it() -> None:
    address = f"http://127.0.0.1:{unused_port()}/v1"
    with ActorSystem() as system:
        agent = Agent.spawn(system, AgentConfig(provider="openai", base_url=address, model="m"))
        result = ask(agent)
        assert result.outcome == "model_error"
        assert address in result.result


def test_a_server_that_comes_back_is_used_again() -> None:
    with ActorSystem() as system:
        with ScriptedModelServer([answer("one")]) as first:
            config = AgentConfig(provider="openai", base_url=first.base_url, model="m")
            agent = Agent.spawn(system, config)
            assert ask(agent).result == "one"
        assert ask(agent).outcome == "model_error"
        with ScriptedModelServer([answer("two")]) as second:
            agent.update_config(base_url=second.base_url)
            assert ask(agent).result == "two"


# -- secrets ------------------------------------------------------------------------------------------


def leaks(texts: Sequence[object]) -> list[str]:
    """The texts that hold the key."""
    return [str(each) for each in texts if KEY in str(each)]


def test_the_key_goes_to_the_server_and_is_shown_nowhere(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    echo = JsonReply({"error": {"message": f"incorrect API key provided: {KEY}"}}, status=401)
    with Stage([echo, echo, answer("hello")]) as stage:
        config = stage.config(api_key=KEY)
        agent = Agent.spawn(stage.system, config)
        result = ask(agent)
        assert stage.server.chats[0].headers["authorization"] == f"Bearer {KEY}"
        assert result.outcome == "model_error"
        assert ask(agent).result == "hello"
        told = [result, repr(config), repr(agent), agent.config(), config.to_dict()]
        assert not leaks([*told, agent.history()])
    assert not leaks([record.getMessage() for record in caplog.records])


def test_the_key_is_in_no_error_about_a_setting() -> None:
    with Stage() as stage:
        agent = stage.agent(api_key=KEY)
        texts: list[object] = []
        for changes in ({"max_steps": 0}, {"api_key": [KEY]}, {"nope": 1}):
            with pytest.raises(ValueError, match="config field") as caught:
                agent.update_config(**changes)
            texts += [caught.value, repr(caught.value), caught.value.__cause__]
        assert not leaks(texts)


def test_a_key_no_header_can_carry_is_a_settings_error_that_does_not_show_it() -> None:
    with Stage() as stage:
        agent = stage.agent(api_key=f"{KEY} two")
        with pytest.raises(ValueError, match="api_key") as caught:
            ask(agent)
        assert not leaks([caught.value, repr(caught.value)])
        assert agent.is_alive()
