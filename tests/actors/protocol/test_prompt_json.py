"""The prompt protocol: what is asked for, and what a reply means."""

from __future__ import annotations

import pytest

from actors.errors import ModelReplyError
from actors.model.message import Message
from actors.model.provider import ModelReply
from actors.model.toolspec import ToolSpec
from actors.protocol.prompt_json import PromptJson
from actors.protocol.recovery import parse_response
from actors.protocol.step import PlannedCall
from actors.protocol.templates import CONVERSATIONAL, HEADING, PLANNING


def test_nothing_is_sent_natively() -> None:
    assert PromptJson().build("Be kind.", [ToolSpec("add")])[1] is None


def test_the_mode_chooses_the_reply_format() -> None:
    assert PromptJson().build("", [])[0] == PLANNING
    assert PromptJson("conversational").build("", [])[0] == CONVERSATIONAL
    assert PLANNING.startswith(HEADING)
    assert CONVERSATIONAL.startswith(HEADING)


@pytest.mark.parametrize(
    "line", [line for line in (PLANNING + "\n" + CONVERSATIONAL).splitlines() if line[:1] == "{"]
)
def test_a_model_that_copies_a_shape_of_the_format_is_understood(line: str) -> None:
    envelope = parse_response(line)
    assert envelope.answer or envelope.tool


def test_a_tool_call_has_no_id() -> None:
    step = PromptJson().read(
        ModelReply('{"thought":"t","goal":"g","tool":"add","tool_args":{"a":1}}')
    )
    assert step.calls == (PlannedCall("add", {"a": 1}),)
    assert (step.thought, step.goal, step.answer, step.native) == ("t", "g", None, False)


def test_the_raw_reply_enters_the_conversation() -> None:
    text = ' ```json\n{"answer": "yes"}\n``` '
    step = PromptJson().read(ModelReply(text))
    assert (step.message, step.text, step.answer) == (Message("assistant", text), text, "yes")


def test_a_plan_is_handed_on_as_it_is() -> None:
    assert PromptJson().read(ModelReply('{"plan": ["a", 1], "tool": "t"}')).plan == ["a", 1]


def test_an_object_without_answer_and_tool_leaves_both_open() -> None:
    step = PromptJson().read(ModelReply('{"thought": "hm"}'))
    assert (step.answer, step.calls) == (None, ())


def test_volunteered_calls_are_not_looked_at() -> None:
    step = PromptJson().read(ModelReply("hello", "no list of calls"))
    assert (step.answer, step.calls) == ("hello", ())


def test_volunteered_calls_without_text_are_no_reply() -> None:
    with pytest.raises(ModelReplyError, match="no text"):
        PromptJson().read(ModelReply(None, [{"id": "c1", "function": {"name": "add"}}]))


def test_text_of_a_stream_that_broke_off_counts() -> None:
    assert PromptJson().read(ModelReply("half", complete=False)).answer == "half"
