"""The turn from step to step: transitions, rules, limits, history, over a real server and client."""

from __future__ import annotations

from typing import Any

import pytest

from actors.agent import notices
from actors.agent.rules import VIX, TurnRules
from actors.agent.transitions import TurnState, advance
from actors.errors import AgentBusy, InvalidArgument
from actors.model.message import Message
from actors.output.events import PromptSent, ReplyReceived, TurnEvent
from actors.testing import Failure, ScriptedModelServer, SSEReply, answer, answer_chunks, tool_calls
from tests.actors.agent.on_loop import on_loop
from tests.actors.agent.scene import FunctionTools, Scene, boom, echo, say, use


def _names(events: list[TurnEvent]) -> list[str]:
    return [type(event).__name__ for event in events]


@pytest.mark.parametrize(
    ("state", "signal", "following"),
    [
        (TurnState.PLANNING, "tools_ran", TurnState.PLANNING),
        (TurnState.PLANNING, "tool_failed", TurnState.ERROR_RECOVERY),
        (TurnState.PLANNING, "ended", TurnState.COMPLETION),
        (TurnState.ERROR_RECOVERY, "error_told", TurnState.PLANNING),
        (TurnState.ERROR_RECOVERY, "ended", TurnState.COMPLETION),
    ],
)
def test_the_table_says_which_state_follows(
    state: TurnState, signal: Any, following: TurnState
) -> None:
    assert advance(state, signal) is following


@pytest.mark.parametrize(
    ("state", "signal"),
    [
        (TurnState.PLANNING, "error_told"),
        (TurnState.ERROR_RECOVERY, "tools_ran"),
        (TurnState.COMPLETION, "ended"),
    ],
)
def test_a_signal_the_table_lacks_is_a_bug(state: TurnState, signal: Any) -> None:
    with pytest.raises(KeyError):
        advance(state, signal)


@on_loop
async def test_a_tool_step_and_an_answer_publish_their_events_in_order() -> None:
    with ScriptedModelServer([use("echo", n=1), say(answer="done")]) as server:
        async with Scene(server, FunctionTools(echo=echo)) as scene:
            result = await scene.play()
    assert result.to_dict() == {"result": "done", "steps_taken": 2, "steps_limit": 20}
    assert result.outcome == "answered"
    tool_step = (
        "StepStarted ProgressStarted ProgressStopped ThoughtGiven GoalGiven ToolChosen JsonShown"
    )
    assert _names(scene.events) == [
        "TurnStarted",
        *tool_step.split(),
        *["ProgressStarted", "ProgressStopped", "ToolFinished", "JsonShown"],
        *["StepStarted", "ProgressStarted", "ProgressStopped", "ThoughtGiven", "GoalGiven"],
        *["AnswerGiven", "TurnFinished"],
    ]


@on_loop
async def test_an_error_is_told_with_the_task_and_then_recovered_from() -> None:
    replies = [use("boom"), use("echo"), use("echo", n=2)]
    with ScriptedModelServer(replies) as server:
        async with Scene(server, FunctionTools(boom=boom, echo=echo)) as scene:
            result = await scene.play("the task", max_steps=3)
        notice = server.chats[1].json["messages"][-1]
    assert notice["role"] == "user"
    assert "disk full" in notice["content"]
    assert "the task" in notice["content"]
    assert notices.ENVELOPE_REMINDER in notice["content"]
    assert result.outcome == "limit"
    assert result.result == notices.limit_reached(3)


@on_loop
async def test_an_error_in_the_last_step_is_the_result() -> None:
    with ScriptedModelServer([use("echo"), use("boom")]) as server:
        async with Scene(server, FunctionTools(boom=boom, echo=echo), max_steps=2) as scene:
            result = await scene.play()
    assert (result.outcome, result.result) == ("limit", "disk full")
    assert scene.history()[-1][0] == "user"


@on_loop
async def test_native_recovery_has_no_reminder_of_the_envelope() -> None:
    with ScriptedModelServer([tool_calls(("c1", "boom", "{}")), answer("gave up")]) as server:
        async with Scene(server, FunctionTools(boom=boom), native=True) as scene:
            await scene.play()
        notice = server.chats[1].json["messages"][-1]["content"]
    assert notices.ENVELOPE_REMINDER not in notice


@on_loop
async def test_the_model_is_asked_twice_in_a_step_and_then_given_up() -> None:
    with ScriptedModelServer([Failure("cut"), Failure("cut")]) as server:
        async with Scene(server, FunctionTools()) as scene:
            result = await scene.play()
    assert result.outcome == "model_error"
    assert result.steps_taken == 1
    assert result.result.startswith("Unable to complete task due to LLM error: ")
    assert scene.history() == [("user", "do it")]
    assert _names(scene.events)[2:] == [
        *["ProgressStarted", "ProgressStopped", "WarningNoted"],
        *["ProgressStarted", "ProgressStopped", "ErrorNoted", "TurnFinished"],
    ]


@on_loop
async def test_a_second_attempt_that_succeeds_is_the_same_step() -> None:
    with ScriptedModelServer([Failure("cut"), say(answer="late")]) as server:
        async with Scene(server, FunctionTools()) as scene:
            result = await scene.play()
    assert (result.result, result.steps_taken) == ("late", 1)


@on_loop
async def test_undecodable_arguments_are_not_asked_for_again() -> None:
    with ScriptedModelServer([tool_calls(("c1", "echo", "[1]"))]) as server:
        tools = FunctionTools(echo=echo)
        async with Scene(server, tools, native=True) as scene:
            result = await scene.play()
    assert result.outcome == "model_error"
    assert tools.ran == []


@on_loop
async def test_a_broken_off_stream_is_ended_before_it_is_asked_again() -> None:
    cut = SSEReply(answer_chunks('{"thought":"', done=False), ending="reset")
    whole = SSEReply(answer_chunks('{"answer":', '"ok"}'))
    with ScriptedModelServer([cut, whole]) as server:
        async with Scene(server, FunctionTools(), streaming=True) as scene:
            result = await scene.play()
    assert result.result == "ok"
    assert _names(scene.events) == [
        *["TurnStarted", "StepStarted", "TokenReceived", "StreamEnded", "WarningNoted"],
        *["TokenReceived", "TokenReceived", "StreamEnded", "TurnFinished"],
    ]


@on_loop
async def test_more_plans_than_allowed_bring_a_call_for_an_answer() -> None:
    replies = [say(plan=[], tool="echo", tool_args={"n": n}) for n in range(3)]
    with ScriptedModelServer([*replies, say(answer="ok")]) as server:
        async with Scene(server, FunctionTools(echo=echo), max_plan_iterations=2) as scene:
            await scene.play()
        told = [
            [m["content"] for m in chat.json["messages"]].count(notices.ENOUGH_PLANS)
            for chat in server.chats
        ]
    assert told == [0, 0, 0, 1]


@on_loop
async def test_a_loop_within_one_reply_stops_the_batch_and_the_turn() -> None:
    calls = [(f"c{n}", "echo", "{}") for n in range(5)]
    with ScriptedModelServer([tool_calls(*calls)]) as server:
        tools = FunctionTools(echo=echo)
        async with Scene(server, tools, native=True) as scene:
            result = await scene.play()
    assert (result.outcome, result.result) == ("loop", notices.LOOP)
    assert tools.ran == ["echo"] * 3
    stored = scene.conversation.history()
    assert [call.id for call in stored[1].tool_calls] == ["c0", "c1", "c2"]
    assert [each.tool_call_id for each in stored[2:]] == ["c0", "c1", "c2"]


@on_loop
async def test_tools_that_change_during_a_turn_are_seen_in_the_next_step() -> None:
    tools = FunctionTools()

    async def grow(args: dict[str, Any]) -> Any:
        tools.functions["late"] = echo
        tools.version += 1
        return {}

    tools.functions["grow"] = grow
    with ScriptedModelServer([use("grow"), say(answer="ok")]) as server:
        async with Scene(server, tools) as scene:
            await scene.play()
        prompts = [chat.json["messages"][0]["content"] for chat in server.chats]
    assert "- late(" not in prompts[0]
    assert "- late(" in prompts[1]


@on_loop
async def test_vix_rules_ask_once_tell_the_failure_and_end_with_the_last_text() -> None:
    call = tool_calls(("c1", "boom", "{}"), text="looking")
    with ScriptedModelServer([call]) as server:
        async with Scene(server, FunctionTools(boom=boom), native=True, rules=VIX) as scene:
            result = await scene.play(max_steps=1)
    assert (result.outcome, result.result) == ("limit", "looking")
    assert scene.history()[-1] == ("tool", "Tool failed: disk full")


@on_loop
async def test_vix_rules_do_not_ask_again_after_a_failure() -> None:
    with ScriptedModelServer([Failure("cut")]) as server:
        async with Scene(server, FunctionTools(), rules=VIX) as scene:
            assert (await scene.play()).outcome == "model_error"


SMALL = TurnRules(answer_without_tools_after_result=True, repeat_means_answer=True)


@on_loop
async def test_a_small_model_answers_without_tools_after_a_result() -> None:
    with ScriptedModelServer([tool_calls(("c1", "echo", "{}")), answer("42")]) as server:
        scene = Scene(
            server, FunctionTools(echo=echo), native=True, rules=SMALL, own_prompt="Be brief."
        )
        async with scene:
            result = await scene.play()
        first, second = (chat.json for chat in server.chats)
    assert result.result == "42"
    assert "tools" in first
    assert "tools" not in second
    assert second["messages"][0] == {"role": "system", "content": "Be brief."}


@on_loop
async def test_a_small_model_that_repeats_its_call_is_told_to_answer() -> None:
    rules = TurnRules(repeat_means_answer=True)
    call = tool_calls(("c1", "echo", "{}"))
    again = tool_calls(("c2", "echo", "{}"))
    with ScriptedModelServer([call, again, answer("42")]) as server:
        tools = FunctionTools(echo=echo)
        async with Scene(server, tools, native=True, rules=rules) as scene:
            result = await scene.play()
        last = server.chats[2].json
    assert result.result == "42"
    assert tools.ran == ["echo"]
    assert "tools" not in last
    assert last["messages"][-1]["tool_call_id"] == "c2"


@on_loop
async def test_messages_that_say_nothing_are_refused_before_anything_happens() -> None:
    with ScriptedModelServer() as server:
        async with Scene(server, FunctionTools()) as scene:
            with pytest.raises(InvalidArgument):
                await scene.play("")
            assert not scene.conversation.in_turn
            assert scene.events == []


@on_loop
async def test_a_conversation_in_a_turn_takes_no_other() -> None:
    with ScriptedModelServer() as server:
        async with Scene(server, FunctionTools()) as scene:
            scene.conversation.open_turn([Message("user", "x")])
            with pytest.raises(AgentBusy):
                await scene.play()
            assert scene.conversation.in_turn


@on_loop
async def test_a_sink_that_raises_ends_the_turn_with_its_error_and_a_whole_history() -> None:
    def refuse(event: TurnEvent) -> None:
        if type(event).__name__ == "ToolFinished":
            raise BrokenPipeError("nobody reads")

    with ScriptedModelServer([tool_calls(("c1", "echo", "{}"))]) as server:
        async with Scene(server, FunctionTools(echo=echo), native=True) as scene:
            scene.sink = refuse
            with pytest.raises(BrokenPipeError):
                await scene.play()
    assert scene.history() == [("user", "do it")]


@on_loop
async def test_a_runner_that_raises_ends_the_turn_with_its_error_and_a_whole_history() -> None:
    async def bug(args: dict[str, Any]) -> Any:
        raise ZeroDivisionError

    calls = tool_calls(("c1", "echo", "{}"), ("c2", "bug", "{}"))
    with ScriptedModelServer([calls]) as server:
        async with Scene(server, FunctionTools(echo=echo, bug=bug), native=True) as scene:
            with pytest.raises(ZeroDivisionError):
                await scene.play()
    stored = scene.conversation.history()
    assert [call.id for call in stored[1].tool_calls] == ["c1"]
    assert stored[2].tool_call_id == "c1"


@on_loop
async def test_prompts_and_replies_are_shown_when_wanted() -> None:
    with ScriptedModelServer([answer("hello")]) as server:
        scene = Scene(server, FunctionTools(), own_prompt="Be brief.", show_prompts=True)
        async with scene:
            await scene.play()
    prompt, reply = (e for e in scene.events if isinstance(e, PromptSent | ReplyReceived))
    assert prompt.text.startswith("Be brief.")
    assert reply.text == "hello"


@on_loop
async def test_usage_is_summed_over_the_steps_of_a_turn() -> None:
    numbers = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    replies = [
        tool_calls(("c1", "echo", "{}"), usage=numbers),
        answer("ok", usage=numbers),
    ]
    with ScriptedModelServer(replies) as server:
        async with Scene(server, FunctionTools(echo=echo), native=True) as scene:
            result = await scene.play()
    assert result.to_dict()["usage"] == {key: 2 * value for key, value in numbers.items()}
