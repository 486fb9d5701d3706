"""Native tool calls; the cases of gaia/native_tools say how schemas are sent and calls parsed."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.errors import ModelReplyError, ToolCallError, ToolSchemaError
from actors.model.message import Message, ToolCall
from actors.model.provider import ModelReply
from actors.model.toolspec import ToolParameter, ToolSpec
from actors.protocol.native import NativeToolCalls, decode_arguments, parse_call, tool_schemas
from actors.protocol.prompt_json import PromptJson
from actors.protocol.protocol import Protocol
from actors.protocol.recovery import BLANKS, DEPTH_LIMIT
from actors.protocol.step import PlannedCall
from actors.protocol.templates import HEADING

ADD = ToolSpec("add", "Add two numbers.", (ToolParameter("a", "number"),))


def protocol() -> Protocol:
    """The protocol under test."""
    return NativeToolCalls(PromptJson())


def wire_call(arguments: Any = "{}", **others: Any) -> dict[str, Any]:
    """A call as a server sends it."""
    return {"id": "c1", "function": {"name": "add", "arguments": arguments}, **others}


def test_tools_are_listed_and_sent_and_no_reply_format_is_asked_for() -> None:
    prompt, tools = protocol().build("Be kind.", [ADD])
    assert "- add(a: number): Add two numbers." in prompt
    assert HEADING not in prompt
    assert tools is not None
    assert msgspec.json.decode(tools) == tool_schemas([ADD])


def test_without_a_tool_the_reply_format_is_asked_for_and_nothing_sent() -> None:
    assert protocol().build("Be kind.", []) == PromptJson().build("Be kind.", [])


def test_a_whole_schema_and_its_definitions_are_sent_as_they_are() -> None:
    schema = {"$ref": "#/$defs/Point"}
    definitions = {"Point": {"type": "object"}}
    spec = ToolSpec("move", "", (ToolParameter("to", "object", schema=schema),), definitions)
    parameters = tool_schemas([spec])[0]["function"]["parameters"]
    assert parameters["properties"] == {"to": schema}
    assert parameters["$defs"] == definitions


@pytest.mark.parametrize("name", ["", "a b", "x" * 65, "grüße", "a\n"])
def test_a_name_the_api_does_not_take_is_told(name: str) -> None:
    with pytest.raises(ToolSchemaError, match="nativeToolCalls: never"):
        tool_schemas([ToolSpec(name)])


def test_calls_win_over_text_which_becomes_the_thought() -> None:
    step = protocol().read(ModelReply('{"answer": "no"}', [wire_call('{"a": 1}')]))
    assert step.calls == (PlannedCall("add", {"a": 1}, "c1"),)
    assert (step.answer, step.thought, step.native) == (None, '{"answer": "no"}', True)


def test_what_enters_the_conversation_holds_the_calls_as_they_were_written() -> None:
    step = protocol().read(ModelReply(None, [wire_call('{ "a":1 }')]))
    calls = (ToolCall("c1", "add", '{ "a":1 }'),)
    assert step.message == Message("assistant", "", tool_calls=calls)


@pytest.mark.parametrize("calls", [(), [], None])
def test_a_reply_without_calls_is_read_as_the_prompt_protocol_does(calls: Any) -> None:
    reply = ModelReply('{"answer": "yes"}', calls)
    assert protocol().read(reply) == PromptJson().read(reply)


def test_a_reply_without_text_and_calls_is_no_reply() -> None:
    with pytest.raises(ModelReplyError, match="no text"):
        protocol().read(ModelReply(None))


def test_calls_of_a_stream_that_broke_off_are_refused() -> None:
    with pytest.raises(ModelReplyError, match="DONE"):
        protocol().read(ModelReply(None, [wire_call()], complete=False))


def test_text_of_a_stream_that_broke_off_counts() -> None:
    assert protocol().read(ModelReply("half", complete=False)).answer == "half"


@pytest.mark.parametrize("calls", ["add", {"name": "add"}, 7])
def test_calls_that_are_no_array_are_told(calls: Any) -> None:
    with pytest.raises(ToolCallError, match="expected an array") as caught:
        protocol().read(ModelReply("text", calls))
    assert not caught.value.final


def test_one_bad_call_spoils_the_reply() -> None:
    with pytest.raises(ToolCallError) as caught:
        protocol().read(ModelReply(None, [wire_call(), wire_call(id="")]))
    assert not caught.value.final


def test_one_bad_argument_list_is_final_and_tells_tool_call_and_payload() -> None:
    with pytest.raises(ToolCallError, match=r"'add' \(call 'c1'\).*: \[1\]") as caught:
        protocol().read(ModelReply(None, [wire_call(), wire_call("[1]")]))
    assert caught.value.final


def test_only_the_head_of_a_long_payload_is_told() -> None:
    with pytest.raises(ToolCallError) as caught:
        decode_arguments(ToolCall("c1", "add", '"' + "x" * 5000))
    assert len(str(caught.value)) < 600


def test_arguments_sent_as_an_object_are_taken() -> None:
    assert decode_arguments(parse_call(wire_call({"a": [1, {"b": None}]}))) == {
        "a": [1, {"b": None}]
    }


def test_arguments_at_the_depth_limit_are_taken() -> None:
    inner = DEPTH_LIMIT - 1
    text = f'{{"a": {"[" * inner + "]" * inner}}}'
    assert "a" in decode_arguments(ToolCall("c1", "add", text))


@pytest.mark.parametrize("depth", [DEPTH_LIMIT, 100_000])
def test_deeper_arguments_are_a_final_error(depth: int) -> None:
    text = f'{{"a": {"[" * depth + "]" * depth}}}'
    with pytest.raises(ToolCallError, match="nested deeper than 100") as caught:
        decode_arguments(ToolCall("c1", "add", text))
    assert caught.value.final


def test_an_object_too_deep_to_be_written_is_a_final_error() -> None:
    deep: dict[str, Any] = {}
    for _ in range(5000):
        deep = {"a": deep}
    with pytest.raises(ToolCallError, match="nested deeper than 100") as caught:
        parse_call(wire_call(deep))
    assert caught.value.final


@given(st.text())
def test_any_text_of_arguments_is_an_object_or_the_typed_error(text: str) -> None:
    try:
        assert isinstance(decode_arguments(ToolCall("c1", "add", text)), dict)
    except ToolCallError:
        assert text.strip(BLANKS)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["id", "function", "name", "arguments"]), inner)
        ),
    )
)
def test_any_json_in_the_place_of_a_call_is_a_call_or_the_typed_error(entry: Any) -> None:
    try:
        call = parse_call(entry)
    except ToolCallError:
        return
    assert call.id
    assert call.name
