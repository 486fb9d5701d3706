"""Turns that are stopped: by cancel, by deadline, from outside; and what the history says afterwards.

Real sockets; a silent server and tools that never end make the moments to stop in.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from actors.agent import notices, tool_round
from actors.agent.rules import TurnRules
from actors.output.events import ToolChosen, ToolFinished, TurnEvent
from actors.testing import Failure, ScriptedModelServer, SSEReply, answer_chunks, tool_calls
from tests.actors.agent.on_loop import on_loop
from tests.actors.agent.scene import FunctionTools, Scene, echo, for_ever, say, use

NO_GRACE = TurnRules(tool_grace_s=0.001)


def _on(event_type: type[TurnEvent], act: Callable[[], object], scene: Scene) -> None:
    """Let the scene's sink call `act` when an event of that type comes."""

    def sink(event: TurnEvent) -> None:
        scene.events.append(event)
        if isinstance(event, event_type):
            act()

    scene.sink = sink


async def _cancel_when(scene: Scene, server: ScriptedModelServer, requests: int) -> None:
    await asyncio.to_thread(server.wait_until, lambda s: len(s.chats) >= requests)
    scene.cancel.request()


@on_loop
async def test_a_cancel_during_a_request_closes_the_connection_and_is_a_result() -> None:
    with ScriptedModelServer([use("echo"), Failure("silent")]) as server:
        async with Scene(server, FunctionTools(echo=echo)) as scene:
            beside = asyncio.create_task(_cancel_when(scene, server, 2))
            result = await scene.play()
            await beside
            await asyncio.to_thread(server.wait_until, lambda s: s.hangups == 1)
    assert (result.outcome, result.result) == ("cancelled", notices.cancelled(2))
    assert [role for role, _ in scene.history()] == ["user", "assistant", "user"]


@on_loop
async def test_a_cancel_during_a_stream_closes_it() -> None:
    stream = SSEReply(answer_chunks('{"thought"', done=False), ending="silent")
    with ScriptedModelServer([stream]) as server:
        async with Scene(server, FunctionTools(), streaming=True) as scene:
            beside = asyncio.create_task(_cancel_when(scene, server, 1))
            result = await scene.play()
            await beside
            await asyncio.to_thread(server.wait_until, lambda s: s.hangups == 1)
    assert result.outcome == "cancelled"
    assert scene.history() == [("user", "do it")]


@on_loop
async def test_a_cancel_before_the_first_step_asks_nothing() -> None:
    with ScriptedModelServer() as server:
        async with Scene(server, FunctionTools()) as scene:
            scene.cancel.request()
            result = await scene.play()
    assert (result.result, result.steps_taken) == (notices.cancelled(0), 0)


@on_loop
async def test_a_cancel_aborts_the_running_tool_and_the_history_says_its_outcome_is_unknown() -> (
    None
):
    calls = tool_calls(("c1", "echo", "{}"), ("c2", "hang", "{}"), ("c3", "echo", "{}"))
    with ScriptedModelServer([calls]) as server:
        tools = FunctionTools(echo=echo, hang=for_ever)
        async with Scene(server, tools, native=True, rules=NO_GRACE) as scene:

            def cancel_at_the_second() -> None:
                if tools.ran == ["echo"]:
                    scene.cancel.request()

            _on(ToolChosen, cancel_at_the_second, scene)
            result = await scene.play()
    assert (result.outcome, result.steps_taken) == ("cancelled", 1)
    assert tools.ran == ["echo", "hang"]
    stored = scene.conversation.history()
    assert [call.id for call in stored[1].tool_calls] == ["c1", "c2"]
    assert "whether it took effect is unknown" in stored[3].content


@on_loop
async def test_a_tool_that_cancels_its_own_turn_still_gets_its_value_recorded() -> None:
    with ScriptedModelServer([use("stop")]) as server:
        tools = FunctionTools()
        async with Scene(server, tools) as scene:

            async def stop(args: dict[str, Any]) -> Any:
                await asyncio.to_thread(scene.cancel.request)
                return {"ok": True}

            tools.functions["stop"] = stop
            result = await scene.play()
    assert (result.outcome, result.result) == ("cancelled", notices.cancelled(1))
    assert scene.history()[-1] == ("user", '[Result from stop]: {"ok":true}')


@on_loop
async def test_a_deadline_during_a_request_ends_the_turn_with_its_own_notice() -> None:
    with ScriptedModelServer([Failure("silent")]) as server:
        async with Scene(server, FunctionTools(), turn_timeout_s=0.05) as scene:
            result = await scene.play()
            await asyncio.to_thread(server.wait_until, lambda s: s.hangups == 1)
    assert (result.outcome, result.result) == ("deadline", notices.out_of_time(0.05, 1))
    assert scene.history() == [("user", "do it")]


@on_loop
async def test_a_deadline_aborts_a_tool_without_grace() -> None:
    with ScriptedModelServer([use("hang")]) as server:
        rules = TurnRules(tool_grace_s=10_000.0)
        scene = Scene(server, FunctionTools(hang=for_ever), rules=rules, turn_timeout_s=0.05)
        async with scene:
            result = await scene.play()
    assert result.outcome == "deadline"
    assert "ran out of time" in scene.history()[-1][1]


@on_loop
async def test_a_task_that_is_cancelled_leaves_a_whole_history_behind() -> None:
    calls = tool_calls(("c1", "hang", "{}"), ("c2", "echo", "{}"))
    with ScriptedModelServer([calls]) as server:
        async with Scene(server, FunctionTools(hang=for_ever, echo=echo), native=True) as scene:
            turn = asyncio.create_task(scene.play())
            _on(ToolChosen, lambda: asyncio.get_running_loop().call_soon(turn.cancel), scene)
            with pytest.raises(asyncio.CancelledError):
                await turn
    stored = scene.conversation.history()
    assert not scene.conversation.in_turn
    assert [call.id for call in stored[1].tool_calls] == ["c1"]
    assert stored[2].tool_call_id == "c1"


@on_loop
async def test_a_task_that_is_cancelled_during_a_request_keeps_the_question() -> None:
    with ScriptedModelServer([Failure("silent")]) as server:
        async with Scene(server, FunctionTools()) as scene:
            turn = asyncio.create_task(scene.play())
            await asyncio.to_thread(server.wait_until, lambda s: len(s.chats) == 1)
            turn.cancel()
            with pytest.raises(asyncio.CancelledError):
                await turn
    assert scene.history() == [("user", "do it")]


# -- calls that overlap -----------------------------------------------------------------------------


def _three(*names: str) -> Any:
    return tool_calls(*[(f"c{n}", name, "{}") for n, name in enumerate(names)])


@on_loop
async def test_safe_calls_overlap_and_are_recorded_in_the_order_of_the_reply() -> None:
    second_ran = asyncio.Event()

    async def first(args: dict[str, Any]) -> Any:
        await second_ran.wait()
        return 1

    async def second(args: dict[str, Any]) -> Any:
        second_ran.set()
        return 2

    with ScriptedModelServer([_three("first", "second"), say(answer="ok")]) as server:
        tools = FunctionTools(safe=["first", "second"], first=first, second=second)
        async with Scene(server, tools, native=True) as scene:
            await scene.play()
    stored = scene.conversation.history()
    assert [(each.tool_call_id, each.content) for each in stored[2:4]] == [("c0", "1"), ("c1", "2")]
    shown = [each for each in scene.events if isinstance(each, ToolChosen | ToolFinished)]
    assert shown == [
        *[ToolChosen("first"), ToolFinished("first")],
        *[ToolChosen("second"), ToolFinished("second")],
    ]


@on_loop
async def test_calls_do_not_overlap_if_one_of_them_is_not_safe() -> None:
    running = 0

    async def alone(args: dict[str, Any]) -> Any:
        nonlocal running
        running += 1
        await asyncio.sleep(0)
        assert running == 1
        running -= 1
        return {}

    with ScriptedModelServer([_three("one", "two"), say(answer="ok")]) as server:
        tools = FunctionTools(safe=["one"], one=alone, two=alone)
        async with Scene(server, tools, native=True) as scene:
            assert (await scene.play()).outcome == "answered"


@on_loop
async def test_the_loop_rule_holds_before_overlapping_calls_start() -> None:
    with ScriptedModelServer([_three("echo", "echo", "echo", "echo")]) as server:
        tools = FunctionTools(safe=["echo"], echo=echo)
        async with Scene(server, tools, native=True) as scene:
            assert (await scene.play()).outcome == "loop"
    assert tools.ran == ["echo"] * 3


@on_loop
async def test_a_cancel_while_calls_overlap_keeps_what_is_done_and_names_what_is_not() -> None:
    with ScriptedModelServer([_three("hang", "echo", "hang")]) as server:
        tools = FunctionTools(safe=["hang", "echo"], hang=for_ever, echo=echo)
        async with Scene(server, tools, native=True, rules=NO_GRACE) as scene:
            _on(ToolChosen, scene.cancel.request, scene)
            result = await scene.play()
    assert result.outcome == "cancelled"
    contents = [each.content for each in scene.conversation.history()[2:]]
    assert contents[1] == '{"args":{}}'
    assert "unknown" in contents[0]
    assert "unknown" in contents[2]


@on_loop
async def test_a_task_cancelled_while_calls_overlap_cancels_them_all() -> None:
    ended = []

    async def hang(args: dict[str, Any]) -> Any:
        try:
            await for_ever(args)
        finally:
            ended.append("hang")

    with ScriptedModelServer([_three("hang", "hang", "hang")]) as server:
        tools = FunctionTools(safe=["hang"], hang=hang)
        async with Scene(server, tools, native=True) as scene:
            turn = asyncio.create_task(scene.play())
            _on(ToolChosen, lambda: asyncio.get_running_loop().call_soon(turn.cancel), scene)
            with pytest.raises(asyncio.CancelledError):
                await turn
    assert ended == ["hang"] * 3
    assert len(scene.conversation.history()) == 5


@on_loop
async def test_an_overlapping_call_that_does_not_let_go_is_left_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tool_round, "LET_GO_S", 0.01)
    released, ended = asyncio.Event(), asyncio.Event()

    async def stubborn(args: dict[str, Any]) -> Any:
        while not released.is_set():
            try:
                await released.wait()
            except asyncio.CancelledError:
                continue
        ended.set()

    with ScriptedModelServer([_three("hang", "stubborn")]) as server:
        tools = FunctionTools(safe=["hang", "stubborn"], hang=for_ever, stubborn=stubborn)
        async with Scene(server, tools, native=True, rules=NO_GRACE) as scene:
            _on(ToolChosen, scene.cancel.request, scene)
            result = await scene.play()
            released.set()
            await ended.wait()
    assert result.outcome == "cancelled"
    assert "unknown" in scene.history()[-1][1]
