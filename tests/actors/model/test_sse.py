"""The event stream of chat completions; the cases of gaia/sse say what each line means."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.errors import ModelReplyError
from actors.model.message import ToolCall, Usage
from actors.model.sse import SSEDecoder


def event(delta: dict[str, Any], **others: Any) -> bytes:
    """One event with a delta."""
    return b"data: " + msgspec.json.encode({"choices": [{"delta": delta}], **others}) + b"\n\n"


def call(index: int, **fields: str) -> dict[str, Any]:
    """A delta with a piece of a tool call."""
    identity = {"id": fields.pop("id")} if "id" in fields else {}
    return {"tool_calls": [{"index": index, **identity, "function": fields}]}


STREAM = b"".join(
    [
        b": a comment\r\n\r\nevent: message\r\n",
        event({"role": "assistant", "content": ""}),
        event({"content": "Grüße, "}).replace(b"\n\n", b"\r\n\r\n"),
        event({"content": "\N{GRINNING FACE}"}),
        b"data: {broken\n",
        event(call(0, id="a", name="add", arguments='{"x"')),
        event(call(1, id="b", name="mul")),
        event(call(0, arguments=": 1}")),
        event({}, usage={"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}),
        b"data: [DONE]\n\n",
        event({"content": "after the end"}),
    ]
)


def decoded(pieces: list[bytes], **options: int) -> tuple[Any, ...]:
    """All that is known after the pieces."""
    decoder = SSEDecoder(**options)
    tokens = [token for piece in pieces for token in decoder.feed(piece)]
    return tokens, decoder.tool_calls, decoder.usage, decoder.done


WHOLE = (
    ["Grüße, ", "\N{GRINNING FACE}"],
    [ToolCall("a", "add", '{"x": 1}'), ToolCall("b", "mul", "")],
    Usage(3, 4, 7),
    True,
)


def test_a_stream_in_one_piece_is_decoded() -> None:
    assert decoded([STREAM]) == WHOLE


def test_every_split_in_two_tells_the_same() -> None:
    for where in range(len(STREAM) + 1):
        assert decoded([STREAM[:where], STREAM[where:]]) == WHOLE, f"split at {where}"


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_any_split_tells_the_same(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(STREAM)]
    assert decoded([STREAM[a:b] for a, b in itertools.pairwise(edges)]) == WHOLE


def test_single_bytes_tell_the_same() -> None:
    assert decoded([STREAM[at : at + 1] for at in range(len(STREAM))]) == WHOLE


lines = st.sampled_from(
    [
        b"data:",
        b"data: ",
        b"[DONE]",
        b"\n",
        b"\r\n",
        b"{",
        b"}",
        b'{"choices":[]}',
        b"\xff",
        b"null",
        b'{"choices":[{"delta":null}],"usage":[]}',
        b'{"choices":[{"delta":{"tool_calls":[7]}}]}',
    ]
)


@given(st.lists(lines | st.binary(max_size=8)), st.integers(1, 9))
def test_no_bytes_make_it_raise_and_splits_do_not_matter(parts: list[bytes], size: int) -> None:
    data = b"".join(parts)
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    assert decoded([data]) == decoded(pieces)


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_line_beyond_the_limit_is_an_error_however_it_comes(size: int, end: bytes) -> None:
    data = b"data: " + b"x" * 95 + end
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    assert decoded(pieces, line_limit=101)[0] == []
    with pytest.raises(ModelReplyError, match="longer than 100 bytes"):
        decoded(pieces, line_limit=100)


def test_the_limit_is_for_each_line_and_not_for_the_stream() -> None:
    assert decoded([STREAM * 3], line_limit=200) == WHOLE


def test_no_more_is_kept_than_the_line_that_is_open() -> None:
    decoder = SSEDecoder(line_limit=100)
    for _ in range(100):
        assert decoder.feed(b"x" * 50 + b"\n" + b"x" * 50) == []
        decoder.feed(b"\n")


def test_a_last_line_without_an_end_is_not_read() -> None:
    assert decoded([event({"content": "a"}), b"data: [DONE]"]) == (["a"], [], None, False)


def test_a_million_empty_lines_are_read_before_the_time_limit() -> None:
    assert decoded([b"\n" * 1000] * 1000) == ([], [], None, False)


def test_deep_nesting_is_skipped() -> None:
    assert decoded([b"data: " + b"[" * 100_000 + b"\n", event({"content": "a"})])[0] == ["a"]


def test_calls_are_in_the_order_of_their_index() -> None:
    pieces = [event(call(5, id="e", name="late")), event(call(2, id="b", name="early"))]
    assert [each.name for each in decoded(pieces)[1]] == ["early", "late"]


def test_a_usage_of_nulls_counts_nothing() -> None:
    nothing = {"prompt_tokens": None, "completion_tokens": "4"}
    assert decoded([event({}, usage=nothing)])[2] == Usage()


def test_a_null_usage_does_not_wipe_out_an_earlier_one() -> None:
    counted = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    assert decoded([event({}, usage=counted), event({}, usage=None)])[2] == Usage(1, 1, 2)
