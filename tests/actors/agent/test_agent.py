"""An agent's settings, history, tools and approvals."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from actors import (
    Agent,
    AgentConfig,
    Approval,
    CallbackApprover,
    ConfigError,
    Message,
    Tool,
    ToolExists,
    ToolPolicy,
    tool,
)
from actors.agent import narrator
from actors.testing import JsonReply, answer, tool_calls
from actors.tools.allow_store import AllowStore
from runtime import ActorSystem
from tests.actors.agent.scene import say, use
from tests.actors.agent.stage import Stage, ask, last_text


@tool
def ping() -> str:
    """Answer."""
    return "pong"


@tool(policy=ToolPolicy.CONFIRM)
def erase(path: str) -> str:
    """Erase a file."""
    return f"{path} is gone"


# -- settings -----------------------------------------------------------------------------------------


def test_an_agent_that_cannot_be_is_refused_in_the_callers_thread() -> None:
    with ActorSystem() as system, pytest.raises(ConfigError, match="max_steps") as caught:
        Agent.spawn(system, AgentConfig(max_steps=0))
    assert caught.value.field == "max_steps"


def test_two_tools_of_one_name_are_refused_in_the_callers_thread() -> None:
    with ActorSystem() as system, pytest.raises(ToolExists, match="ping"):
        Agent.spawn(system, AgentConfig(), tools=[ping, ping])


def test_a_changed_setting_counts_from_the_next_turn_on() -> None:
    with Stage([answer("one"), answer("two")]) as stage:
        agent = stage.agent(temperature=0.0)
        ask(agent)
        agent.update_config(temperature=1.5, max_tokens=7)
        ask(agent)
        sent = [(r.json["temperature"], r.json["max_tokens"]) for r in stage.server.chats]
        assert sent == [(0.0, 4096), (1.5, 7)]
        assert agent.config().max_tokens == 7


def test_a_change_keeps_the_history() -> None:
    with Stage([answer("one"), answer("two")]) as stage:
        agent = stage.agent()
        ask(agent, "first")
        agent.update_config(temperature=0.1)
        ask(agent, "second")
        assert [m.content for m in agent.history()] == ["first", "one", "second", "two"]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"max_steps": -1}, "max_steps"),
        ({"temperature": 3}, "temperature"),
        ({"nope": 1}, "nope"),
        ({"streaming": "yes"}, "streaming"),
        ({"provider": "elsewhere"}, "provider"),
    ],
)
def test_a_bad_change_names_the_setting_and_changes_nothing(
    changes: dict[str, Any], field: str
) -> None:
    with Stage([answer("still here")]) as stage:
        agent = stage.agent()
        before = agent.config()
        with pytest.raises(ConfigError) as caught:
            agent.update_config(**changes)
        assert caught.value.field == field
        assert agent.config() == before
        assert ask(agent).result == "still here"


def test_a_whole_configuration_replaces_the_old_one() -> None:
    with Stage([answer("hello")]) as stage:
        agent = stage.agent(max_steps=3)
        agent.set_config(stage.config(model="other"))
        assert agent.config() == stage.config(model="other")
        ask(agent)
        assert stage.server.chats[0].json["model"] == "other"


def lemonade(stage: Stage, **settings: Any) -> dict[str, Any]:
    """Settings of an agent that loads its model first."""
    return {"provider": "lemonade", "base_url": stage.server.base_url, "model": "one", **settings}


def loaded(stage: Stage) -> list[tuple[str, int]]:
    """The models the server was told to load, with their context sizes."""
    return [(each.json["model_name"], each.json["ctx_size"]) for each in stage.server.loads]


def test_another_model_is_made_ready_before_its_first_request() -> None:
    with Stage([answer("a"), answer("b"), answer("c")]) as stage:
        agent = stage.agent(**lemonade(stage, context_size=8192))
        ask(agent)
        agent.set_model("two")
        ask(agent)
        ask(agent)
        assert loaded(stage) == [("one", 8192), ("two", 8192)]
        assert [each.json["model"] for each in stage.server.chats] == ["one", "two", "two"]


def test_a_change_that_does_not_concern_the_model_loads_nothing() -> None:
    with Stage([answer("a"), answer("b")]) as stage:
        agent = stage.agent(**lemonade(stage))
        ask(agent)
        agent.update_config(temperature=0.1, max_steps=5)
        ask(agent)
        assert len(stage.server.loads) == 1


def test_a_model_that_cannot_be_loaded_is_a_warning_and_is_tried_again() -> None:
    refusal = JsonReply({"error": {"message": "no such model"}}, status=500)
    with Stage([answer("a"), answer("b")], routes={"POST /load": refusal}) as stage:
        agent = stage.agent(**lemonade(stage))
        assert [ask(agent).result, ask(agent).result] == ["a", "b"]
        assert len(stage.server.loads) == 2


# -- history ------------------------------------------------------------------------------------------


def test_what_was_said_goes_out_with_the_next_question() -> None:
    with Stage([answer("I am Ada"), answer("Ada")]) as stage:
        agent = stage.agent()
        ask(agent, "who are you?")
        ask(agent, "again?")
        sent = [
            m["content"] for m in stage.server.chats[1].json["messages"] if m["role"] != "system"
        ]
        assert sent == ["who are you?", "I am Ada", "again?"]


def test_a_history_is_given_replaced_and_forgotten() -> None:
    said = (Message("user", "a"), Message("assistant", "b"))
    with Stage() as stage:
        agent = stage.agent(setup={"history": said})
        assert agent.history() == list(said)
        agent.set_history([Message("user", "c"), Message("tool", "nobody asked", tool_call_id="1")])
        assert agent.history() == [Message("user", "c")]
        agent.clear_history()
        assert agent.history() == []


def test_a_history_that_was_given_out_is_a_copy() -> None:
    with Stage() as stage:
        agent = stage.agent(setup={"history": [Message("user", "a")]})
        agent.history().clear()
        assert len(agent.history()) == 1


# -- tools --------------------------------------------------------------------------------------------


def test_a_tool_is_offered_from_the_next_request_on_until_it_is_removed() -> None:
    with Stage([answer("a"), answer("b"), answer("c")]) as stage:
        agent = stage.agent(native_tool_calls="always")
        ask(agent)
        agent.add_tool(ping)
        assert [spec.name for spec in agent.tools()] == ["ping"]
        ask(agent)
        assert agent.remove_tool("ping") is True
        ask(agent)
        offered = [each.json.get("tools") is not None for each in stage.server.chats]
        assert offered == [False, True, False]
        assert agent.remove_tool("ping") is False


def test_a_tool_of_a_name_that_is_taken_is_refused_and_the_agent_goes_on() -> None:
    with Stage([answer("a")]) as stage:
        agent = stage.agent(ping)
        with pytest.raises(ToolExists, match="ping"):
            agent.add_tool(ping)
        assert ask(agent).result == "a"


def test_native_tool_calls_work_through_the_whole_agent() -> None:
    script = [tool_calls(("call_1", "ping", "{}")), answer("it said pong")]
    with Stage(script) as stage:
        agent = stage.agent(ping, native_tool_calls="always")
        assert ask(agent).result == "it said pong"
        assert [m.role for m in agent.history()] == ["user", "assistant", "tool", "assistant"]


def test_wrong_arguments_are_told_to_the_model_and_the_tool_does_not_run() -> None:
    ran: list[float] = []

    @tool
    def double(number: float) -> float:
        """Double a number."""
        ran.append(number)
        return 2 * number

    with Stage([use("double", number="two"), say(answer="sorry")]) as stage:
        assert ask(stage.agent(double)).result == "sorry"
        assert ran == []
        assert "number" in last_text(stage.server.chats[1])


def test_a_tool_that_raises_is_an_error_result_and_the_agent_lives() -> None:
    @tool
    def fail() -> None:
        """Fails."""
        raise LookupError("no such shelf")

    with Stage([use("fail"), say(answer="it failed")]) as stage:
        agent = stage.agent(fail)
        assert ask(agent).result == "it failed"
        assert "no such shelf" in last_text(stage.server.chats[1])
        assert agent.is_alive()


# -- approvals ----------------------------------------------------------------------------------------


def ask_to_erase(stage: Stage, **setup: Any) -> str:
    """What the model hears after it asked for the tool that needs approval."""
    agent = stage.agent(erase, setup=setup)
    assert ask(agent).outcome == "answered"
    return str(stage.server.chats[-1].json["messages"])


ERASE = (use("erase", path="a.txt"), say(answer="done"))


def test_a_tool_that_needs_approval_is_refused_where_nobody_can_be_asked() -> None:
    with Stage(ERASE) as stage:
        assert "needs confirmation" in ask_to_erase(stage)


def test_a_plain_function_approves_on_a_thread_of_its_own() -> None:
    asked: list[tuple[str, Any, str]] = []

    def approve(name: str, args: Any) -> Approval:
        asked.append((name, args, threading.current_thread().name))
        return Approval.ALLOW_ONCE

    with Stage(ERASE) as stage:
        assert "a.txt is gone" in ask_to_erase(stage, approver=CallbackApprover(approve))
    assert asked == [("erase", {"path": "a.txt"}, "greenroom-approval")]


def test_a_coroutine_approves_on_the_loop() -> None:
    async def approve(_name: str, _args: Any) -> Approval:
        return Approval.ALLOW_ONCE

    with Stage(ERASE) as stage:
        assert "a.txt is gone" in ask_to_erase(stage, approver=CallbackApprover(approve))


def test_a_denial_is_told_to_the_model() -> None:
    with Stage(ERASE) as stage:
        approver = CallbackApprover(lambda _name, _args: Approval.DENY)
        assert "denied by the user" in ask_to_erase(stage, approver=approver)


def test_an_approver_that_fails_is_no_approval() -> None:
    def approve(_name: str, _args: Any) -> Approval:
        raise OSError("the terminal is gone")

    with Stage(ERASE) as stage:
        assert "denied" in ask_to_erase(stage, approver=CallbackApprover(approve))


def test_what_was_allowed_for_ever_is_not_asked_about_again(tmp_path: Path) -> None:
    store = AllowStore(tmp_path / "allowed.json")
    asked: list[str] = []

    def approve(name: str, _args: Any) -> Approval:
        asked.append(name)
        return Approval.ALWAYS_ALLOW

    with Stage([*ERASE, *ERASE, *ERASE]) as stage:
        setup = {"approver": CallbackApprover(approve), "allow_store": store}
        assert "a.txt is gone" in ask_to_erase(stage, **setup)
        assert "a.txt is gone" in ask_to_erase(stage, **setup)
        again = AllowStore(tmp_path / "allowed.json")
        assert "a.txt is gone" in ask_to_erase(stage, allow_store=again)
    assert asked == ["erase"]


def test_a_cancel_ends_the_wait_for_an_approver_who_does_not_answer() -> None:
    asked, answered = threading.Event(), threading.Event()

    def approve(_name: str, _args: Any) -> Approval:
        asked.set()
        answered.wait(30)
        return Approval.ALLOW_ONCE

    with Stage([ERASE[0]]) as stage:
        agent = stage.agent(erase, setup={"approver": CallbackApprover(approve)})
        reply = agent.aprocess_query("erase it")
        assert asked.wait(30)
        agent.cancel()
        try:
            assert reply.get(timeout=5).outcome == "cancelled"
        finally:
            answered.set()


# -- what nobody sees ---------------------------------------------------------------------------------


def test_no_event_is_made_when_nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(*args: object) -> None:
        raise AssertionError(f"an event nobody listens to: {args}")

    for name in ("TurnStarted", "StepStarted", "ToolChosen", "JsonShown", "AnswerGiven"):
        assert hasattr(narrator, name)
        monkeypatch.setattr(narrator, name, made)
    with Stage([use("ping"), say(answer="pong")]) as stage:
        assert ask(stage.agent(ping)).result == "pong"


def test_a_tool_made_by_hand_takes_the_raw_arguments() -> None:
    seen: list[Any] = []
    by_hand = Tool(spec=ping.spec, run=seen.append)
    with Stage([use("ping", extra=[1, {"a": None}]), say(answer="ok")]) as stage:
        assert ask(stage.agent(by_hand)).result == "ok"
    assert seen == [{"extra": [1, {"a": None}]}]
