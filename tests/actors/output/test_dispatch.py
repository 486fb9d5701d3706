"""Events become calls of a handler: all of them, in their order, with what they carry."""

from __future__ import annotations

from typing import get_args

import pytest

from actors.model.message import Usage
from actors.output.dispatch import CALLS, publish_to
from actors.output.events import (
    AnswerGiven,
    ErrorNoted,
    EventSink,
    InfoNoted,
    PromptSent,
    ReplyReceived,
    StateNoted,
    StreamEnded,
    TokenReceived,
    TurnEvent,
    WarningNoted,
)
from actors.output.handler import OutputHandler
from tests.actors.output.recorder import ANSWER_STEP, TOOL_STEP, WHOLE_TURN, Recorder


def published(*events: TurnEvent) -> Recorder:
    recorder = Recorder()
    sink: EventSink = publish_to(recorder)
    for event in events:
        sink(event)
    return recorder


def test_every_event_has_a_row() -> None:
    assert set(CALLS) == set(get_args(TurnEvent))


def test_a_tool_step_makes_the_calls_of_gaia_6_in_order() -> None:
    assert published(*TOOL_STEP).names == [
        "print_step_header",
        "start_progress",
        "stop_progress",
        "print_thought",
        "print_goal",
        "print_plan",
        "print_tool_usage",
        "pretty_print_json",
        "start_progress",
        "stop_progress",
        "print_tool_complete",
        "pretty_print_json",
    ]


def test_a_one_step_answer_makes_the_calls_of_gaia_6_in_order() -> None:
    assert published(WHOLE_TURN[0], *ANSWER_STEP).names == [
        "print_processing_start",
        "print_step_header",
        "start_progress",
        "stop_progress",
        "print_thought",
        "print_goal",
        "print_final_answer",
        "print_completion",
    ]


def test_calls_carry_what_the_events_carry() -> None:
    calls = published(*WHOLE_TURN).calls
    assert calls[0] == ("print_processing_start", "What is 12.5 plus 30?", 20, "small")
    assert ("print_step_header", 1, 20) in calls
    assert ("print_plan", [{"tool": "add"}, "say it"], -1) in calls
    assert ("pretty_print_json", {"a": 12.5, "b": 30}, "Tool Args") in calls
    assert ("pretty_print_json", 42.5, "Tool Result") in calls
    assert calls[-2:] == [
        ("print_final_answer", "It is 42.5.", Usage(300, 12, 312)),
        ("print_completion", 2, 20),
    ]


@pytest.mark.parametrize(
    ("event", "call"),
    [
        (StateNoted("recovering"), ("print_state_info", "recovering")),
        (ErrorNoted("broken"), ("print_error", "broken")),
        (WarningNoted("odd"), ("print_warning", "odd")),
        (InfoNoted("so"), ("print_info", "so")),
        (TokenReceived("4"), ("print_stream_token", "4")),
        (StreamEnded(), ("print_stream_end",)),
        (PromptSent("you are"), ("print_prompt", "you are")),
        (ReplyReceived("{}"), ("print_response", "{}")),
        (AnswerGiven("42"), ("print_final_answer", "42", None)),
    ],
)
def test_the_other_events_make_one_call_each(event: TurnEvent, call: tuple[object, ...]) -> None:
    assert published(event).calls == [call]


def test_what_a_handler_raises_reaches_the_publisher() -> None:
    class Failing(Recorder):
        def __getattribute__(self, name: str) -> object:
            if name == "print_error":
                raise LookupError("no printer")
            return super().__getattribute__(name)

    with pytest.raises(LookupError, match="no printer"):
        publish_to(Failing())(ErrorNoted("broken"))


def test_the_abstract_methods_are_those_of_gaia_6() -> None:
    assert OutputHandler.__abstractmethods__ == {
        "print_processing_start",
        "print_step_header",
        "print_state_info",
        "print_thought",
        "print_goal",
        "print_plan",
        "print_tool_usage",
        "print_tool_complete",
        "pretty_print_json",
        "print_error",
        "print_warning",
        "print_info",
        "start_progress",
        "stop_progress",
        "print_final_answer",
        "print_completion",
    }
