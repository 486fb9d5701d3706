"""What a person sees of a turn."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from actors.model.message import Usage
from actors.output.dispatch import publish_to
from actors.output.handler import Decision
from actors.output.terminal import TerminalHandler, clip_json
from tests.actors.output.recorder import WHOLE_TURN
from tests.actors.output.terminal_pair import terminal_pair

TURN = """\
Question: What is 12.5 plus 30?
model small, at most 20 steps
Step 1 of 20
Thought: a sum
Goal: add them
Plan:
  1. add
  2. say it
Tool: add
Tool Args:
{
  "a": 12.5,
  "b": 30
}
tool finished
Tool Result:
42.5
Step 2 of 20

Answer:
It is 42.5.

300 tokens read, 12 written
done after 2 of 20 steps
"""


def shown(method: str, *arguments: Any) -> str:
    stream = io.StringIO()
    getattr(TerminalHandler(stream, environ={}), method)(*arguments)
    return stream.getvalue()


def test_a_whole_turn_reads_well() -> None:
    stream = io.StringIO()
    sink = publish_to(TerminalHandler(stream, environ={}))
    for event in WHOLE_TURN:
        sink(event)
    assert stream.getvalue() == TURN


def test_the_question_can_be_left_out() -> None:
    stream = io.StringIO()
    TerminalHandler(stream, shows_query=False).print_processing_start("why?", 3, "m")
    assert stream.getvalue() == "model m, at most 3 steps\n"


def test_empty_thought_and_goal_are_not_shown() -> None:
    assert shown("print_thought", "") == ""
    assert shown("print_goal", "") == ""


@pytest.mark.parametrize("length", [2000, 2001, 9000])
def test_json_over_2000_characters_keeps_1000_and_500(length: int) -> None:
    text = json.dumps("x" * (length - 2))
    clipped = clip_json(text)
    if length <= 2000:
        assert clipped == text
    else:
        head, mark, tail = clipped.split("\n")
        assert (len(head), len(tail)) == (1000, 500)
        assert mark == f"... {length - 1500} characters left out ..."


def test_unsayable_values_are_shown_somehow() -> None:
    assert "\ufffd" in shown("pretty_print_json", {"a": "\ud800"}, "Tool Result")


def test_a_plan_of_any_shape_is_shown() -> None:
    assert shown("print_plan", {"a": 1}) == 'Plan:\n{\n  "a": 1\n}\n'
    assert shown("print_plan", [{"tool": 7}, None], 1) == 'Plan:\n  1. {"tool":7}\n> 2. null\n'


def test_the_optional_ones_are_shown_too() -> None:
    assert shown("print_separator", 3) == "---\n"
    assert shown("print_tool_info", "add", "a: number", "Adds.") == "add(a: number)\n  Adds.\n"
    menu = [Decision("Yes", "y", "go on"), Decision("No", "n")]
    assert shown("print_decision_menu", menu) == "  1. Yes: go on\n  2. No\n"
    assert shown("print_prompt", "be brief") == "Prompt: \nbe brief\n"
    assert shown("print_stream_token", "4") + shown("print_stream_end") == "4\n"


def test_usage_of_zero_is_not_shown() -> None:
    assert "tokens" not in shown("print_final_answer", "42", Usage())


def test_colours_on_a_terminal_only() -> None:
    with terminal_pair() as pair:
        TerminalHandler(pair.stream, environ={}).print_error("broken")
        assert pair.until("\n") == "\x1b[31;1mError:\x1b[0m broken\r\n"
    assert shown("print_error", "broken") == "Error: broken\n"


def test_a_long_wait_is_shown_and_taken_away() -> None:
    with terminal_pair() as pair:
        handler = TerminalHandler(pair.stream, silent_for_s=0, environ={})
        handler.start_progress("Thinking")
        pair.until(" s")
        handler.stop_progress()
        handler.print_info("so")
        assert pair.until("so").startswith("\r\x1b[2KThinking ... ")
        assert " s\r\x1b[2Kso" in pair.seen


def test_a_second_wait_replaces_the_first() -> None:
    with terminal_pair() as pair:
        handler = TerminalHandler(pair.stream, silent_for_s=0, environ={})
        handler.start_progress("Loading")
        pair.until("Loading")
        handler.start_progress("Thinking")
        pair.until("\r\x1b[2K\r\x1b[2KThinking")
        handler.stop_progress()
        handler.stop_progress()


def test_a_step_is_a_wait_until_something_is_shown() -> None:
    with terminal_pair() as pair:
        handler = TerminalHandler(pair.stream, silent_for_s=0, environ={"NO_COLOR": "1"})
        handler.print_step_header(1, 20)
        pair.until("Waiting for the model ... ")
        handler.print_stream_token("It is")
        handler.print_stream_end()
        assert " s\r\x1b[2KIt is\r\n" in pair.until("It is\r\n")


def test_a_wait_is_not_shown_without_a_terminal() -> None:
    stream = io.StringIO()
    handler = TerminalHandler(stream, silent_for_s=0)
    handler.start_progress("Thinking")
    handler.stop_progress()
    assert stream.getvalue() == ""
