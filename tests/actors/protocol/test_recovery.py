"""Reading an envelope out of what a model wrote; the cases of gaia/json_recovery say what is found."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.errors import ModelReplyError
from actors.protocol.recovery import (
    DEPTH_LIMIT,
    EMPTY_REPLY,
    Envelope,
    extract_object,
    first_object,
    fix_errors,
    parse_response,
    validate,
)

SIZE = 64 * 1024

HOSTILE = {
    "escaped quotes": '{\\"',
    "open strings": '{"',
    "single quotes": "{'",
    "fences": "```json\n{",
    "fence marks": "`",
    "inline fences": "`json",
    "tags": "<json>{",
    "open objects": '{"a":',
    "open arrays": "[",
    "closers": "}]",
    "commas": "{, ",
    "backslashes": '{"\\',
    "labels": '"tool_args": {"answer":"tool":"',
    "blanks between": '"answer"  \n  ',
}

words = st.text(
    alphabet=st.sampled_from(list("{}[]\"'`\\:, \n\tajson1"))
    | st.characters(exclude_categories=["Cs"])
)
PIECES = [
    *"{}[]\"'`\\, ",
    "```json\n",
    "```",
    "`json",
    "<json>",
    "</json>",
    '{"tool": "t", "tool_args": {',
    '"answer":',
    '"thought": "x',
    "null",
    "1e999",
]
fragments = st.lists(st.sampled_from(PIECES)).map("".join)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(words | fragments)
def test_no_text_makes_reading_raise(text: str) -> None:
    envelope = parse_response(text)
    assert isinstance(envelope, Envelope)
    assert (envelope.tool is None) == (envelope.tool_args is None)
    msgspec.json.encode(envelope)
    extract_object(text)
    fix_errors(text)


@given(words | fragments)
def test_a_reply_is_never_lost(text: str) -> None:
    envelope = parse_response(text)
    if envelope.answer is None and envelope.tool is None:
        assert "{" in text  # an object without either: the raw reply becomes the answer (gaia 1.3l)


@given(words | fragments)
def test_the_strict_reading_gives_an_envelope_or_the_typed_error(text: str) -> None:
    try:
        found = validate(text)
    except ModelReplyError:
        return
    assert "thought" in found
    assert "answer" in found or "tool_args" in found


@given(words | fragments)
def test_the_first_object_is_a_piece_of_the_text(text: str) -> None:
    found = first_object(text)
    assert found in text
    assert not found or (found[0], found[-1]) == ("{", "}")


@given(st.text(), st.dictionaries(st.text(), values, max_size=4), st.sampled_from(range(4)))
def test_an_envelope_is_found_however_it_is_wrapped(
    tool: str, arguments: dict[str, Any], wrapping: int
) -> None:
    text = msgspec.json.encode({"thought": "t", "tool": tool, "tool_args": arguments}).decode()
    wrapped = [text, f" \r\n{text}\t", f"Well: {text} There.", f"Well:\n<json>{text}</json>"][
        wrapping
    ]
    envelope = parse_response(wrapped)
    assert (envelope.thought, envelope.tool, envelope.tool_args) == ("t", tool, arguments)


@given(st.dictionaries(st.text(), values, max_size=4))
def test_repair_leaves_sound_json_alone(value: dict[str, Any]) -> None:
    text = msgspec.json.encode({"": "a string, so that no quote is changed", **value}).decode()
    assert msgspec.json.decode(fix_errors(text)) == msgspec.json.decode(text)


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.time_limit(20)
def test_hostile_text_is_read_before_the_time_limit(piece: str) -> None:
    text = (piece * SIZE)[:SIZE]
    for wrapped in (text, "{" + text, f'x {{"answer": "{text}'):
        assert isinstance(parse_response(wrapped), Envelope)


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE.keys())
def test_twice_the_hostile_text_takes_at_most_twice_the_calls(piece: str) -> None:
    once = _calls_made(lambda: parse_response("{" + piece * 500))
    twice = _calls_made(lambda: parse_response("{" + piece * 1000))
    assert twice <= 2 * once + 10


def _calls_made(work: Callable[[], object]) -> int:
    """How many functions, built-in ones as well, were called."""
    count = 0

    def counting(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(counting)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def test_json_at_the_depth_limit_is_read() -> None:
    deep = "[" * (DEPTH_LIMIT - 1) + "]" * (DEPTH_LIMIT - 1)
    assert parse_response(f'{{"answer": {deep}}}').answer == deep


def test_deeper_json_is_a_text_and_no_crash() -> None:
    deep = "[" * DEPTH_LIMIT + "]" * DEPTH_LIMIT
    text = f'{{"answer": {deep}}}'
    assert parse_response(text).answer == text


def test_brackets_inside_strings_are_no_depth() -> None:
    text = "[" * SIZE
    assert parse_response(f'{{"answer": "{text}"}}').answer == text


def test_a_number_beyond_json_is_a_text() -> None:
    assert parse_response('{"answer": 1e999}').answer == '{"answer": 1e999}'


@pytest.mark.parametrize("text", ["", " \t\r\n"])
def test_an_empty_reply_is_told(text: str) -> None:
    assert parse_response(text) == Envelope(answer=EMPTY_REPLY)


def test_an_empty_answer_is_an_answer() -> None:
    assert parse_response('{"thought": null, "answer": ""}') == Envelope(answer="")


def test_a_null_answer_leaves_the_tool() -> None:
    envelope = parse_response('{"answer": null, "tool": "t", "tool_args": null}')
    assert (envelope.answer, envelope.tool, envelope.tool_args) == (None, "t", {})


def test_a_comma_inside_a_string_is_kept_by_the_repair() -> None:
    assert parse_response('{"answer": "a, }", }').answer == "a, }"


def test_an_object_that_is_no_envelope_does_not_win_over_the_text() -> None:
    text = 'The format is {"name": "value"}.'
    assert parse_response(text).answer == text
