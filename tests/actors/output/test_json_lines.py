"""A turn as JSON lines, in the exact forms of gaia part 2."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from actors.output.dispatch import publish_to
from actors.output.events import (
    ErrorNoted,
    GoalGiven,
    InfoNoted,
    JsonShown,
    StateNoted,
    StreamEnded,
    ThoughtGiven,
    TokenReceived,
    ToolChosen,
    TurnEvent,
    WarningNoted,
)
from actors.output.json_lines import JsonLinesHandler, summary_of
from tests.actors.output.recorder import ANSWER_STEP, WHOLE_TURN


def lines(*events: TurnEvent) -> list[Any]:
    stream = io.StringIO()
    sink = publish_to(JsonLinesHandler(stream))
    for event in events:
        sink(event)
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_whole_turn_has_these_lines() -> None:
    assert lines(*WHOLE_TURN) == [
        {"type": "step", "step": 1, "total": 20, "status": "started"},
        {"type": "status", "status": "working", "message": "Thinking"},
        {"type": "thinking", "content": "a sum"},
        {"type": "status", "status": "working", "message": "add them"},
        {"type": "plan", "steps": [{"tool": "add"}, "say it"], "current_step": -1},
        {"type": "tool_start", "tool": "add"},
        {"type": "tool_args", "tool": "add", "args": {"a": 12.5, "b": 30}},
        {"type": "status", "status": "working", "message": "Executing add"},
        {"type": "tool_end", "success": True},
        {
            "type": "tool_result",
            "title": "add",
            "success": True,
            "summary": "completed",
            "result_data": 42.5,
        },
        {"type": "step", "step": 2, "total": 20, "status": "started"},
        {"type": "status", "status": "working", "message": "Thinking"},
        {
            "type": "answer",
            "content": "It is 42.5.",
            "steps": 2,
            "tools_used": 1,
            "usage": {"prompt_tokens": 300, "completion_tokens": 12, "total_tokens": 312},
        },
        {"type": "status", "status": "complete", "steps": 2, "total": 20},
    ]


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (TokenReceived("4"), {"type": "chunk", "content": "4"}),
        (ErrorNoted("broken"), {"type": "agent_error", "content": "broken"}),
        (WarningNoted("odd"), {"type": "status", "status": "warning", "message": "odd"}),
        (StateNoted("again"), {"type": "status", "status": "warning", "message": "again"}),
        (InfoNoted("so"), {"type": "status", "status": "info", "message": "so"}),
        (JsonShown({"a": 1}, "Else"), {"type": "status", "status": "info", "message": '{"a":1}'}),
    ],
)
def test_the_other_events_are_one_line_each(event: TurnEvent, line: dict[str, Any]) -> None:
    assert lines(event) == [line]


def test_nothing_is_said_of_empty_words_and_ends() -> None:
    assert lines(ThoughtGiven(""), GoalGiven(""), StreamEnded()) == []


def test_a_new_turn_counts_anew() -> None:
    answer = lines(*WHOLE_TURN, WHOLE_TURN[0], *ANSWER_STEP)[-2]
    assert (answer["steps"], answer["tools_used"]) == (2, 0)


def test_a_failed_command_shows_its_streams() -> None:
    result = {"status": "error", "error": "exit 1", "stdout": "a", "stderr": "b", "code": 1}
    assert lines(ToolChosen("sh"), JsonShown(result, "Tool Result"))[1] == {
        "type": "tool_result",
        "title": "sh",
        "success": False,
        "summary": "exit 1",
        "command_output": {"stdout": "a", "stderr": "b"},
        "result_data": result,
    }


@pytest.mark.parametrize(
    ("result", "summary"),
    [
        ({"error": "no", "stdout": "x"}, "no"),
        ({"stdout": "y" * 200}, "y" * 200),
        ({"stdout": "y" * 201}, "y" * 200 + "..."),
        ({"stdout": 7, "status": "success"}, "success"),
        ({}, "completed"),
        ([1], "completed"),
        (None, "completed"),
    ],
)
def test_a_result_in_short(result: Any, summary: Any) -> None:
    assert summary_of(result) == summary


def test_invalid_unicode_is_replaced() -> None:
    assert lines(TokenReceived("a\udc80")) == [{"type": "chunk", "content": "a\ufffd"}]
