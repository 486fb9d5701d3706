"""The chat-completions wire form: what is sent, and how leniently a reply is read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from actors.errors import ModelReplyError
from actors.model.completion import encode_request, read_completion
from actors.model.message import Usage
from actors.model.provider import ModelReply, ModelRequest

USER = Raw(b'{"role":"user","content":"\xc3\xa9"}')


def a_request(*, tools: Raw | None = None) -> ModelRequest:
    return ModelRequest('m"1', (USER, USER), max_tokens=64, temperature=0.5, tools=tools)


def read(value: Any) -> ModelReply:
    return read_completion(json.dumps(value).encode())


def reply_with(message: Any, **more: Any) -> dict[str, Any]:
    return {"choices": [{"message": message}], **more}


def test_a_plain_request_has_exactly_four_keys_in_order() -> None:
    body = json.loads(encode_request(a_request(), stream=False))
    assert list(body) == ["model", "max_tokens", "temperature", "messages"]
    assert body["model"] == 'm"1'
    assert (body["max_tokens"], body["temperature"]) == (64, 0.5)
    assert body["messages"] == [{"role": "user", "content": "é"}] * 2


def test_streaming_adds_one_key() -> None:
    body = json.loads(encode_request(a_request(), stream=True))
    assert list(body) == ["model", "max_tokens", "temperature", "messages", "stream"]
    assert body["stream"] is True


def test_tools_add_two_keys_and_are_copied_as_they_are() -> None:
    body = json.loads(encode_request(a_request(tools=Raw(b'[{"a": 1}]')), stream=True))
    assert list(body)[4:] == ["tools", "tool_choice", "stream"]
    assert (body["tools"], body["tool_choice"]) == ([{"a": 1}], "auto")


def test_no_message_at_all_is_an_empty_list() -> None:
    request = ModelRequest("m", (), max_tokens=1, temperature=0.0)
    assert json.loads(encode_request(request, stream=False))["messages"] == []


def test_text_and_usage_are_read() -> None:
    usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    assert read(reply_with({"content": "hi"}, usage=usage)) == ModelReply(
        "hi", usage=Usage(1, 2, 3)
    )


def test_an_empty_text_is_a_text() -> None:
    assert read(reply_with({"content": ""})) == ModelReply("")


@pytest.mark.parametrize(
    ("usage", "meant"),
    [
        (None, None),
        ("many", None),
        ({}, Usage()),
        ({"prompt_tokens": None, "completion_tokens": 2, "total_tokens": 2}, Usage(0, 2, 2)),
        ({"prompt_tokens": "5", "completion_tokens": True, "total_tokens": -1}, Usage()),
        ({"prompt_tokens": 5.0, "total_tokens": 7}, Usage(5, 0, 7)),
    ],
)
def test_usage_never_spoils_a_reply(usage: Any, meant: Usage | None) -> None:
    assert read(reply_with({"content": "hi"}, usage=usage)).usage == meant


@pytest.mark.parametrize("calls", [[{"id": "x"}], "nonsense", {"a": 1}, [1]])
def test_tool_calls_are_handed_on_unchecked(calls: Any) -> None:
    assert read(reply_with({"content": None, "tool_calls": calls})) == ModelReply(None, calls)


@pytest.mark.parametrize("calls", [None, [], "", {}])
def test_no_tool_calls_are_an_empty_tuple(calls: Any) -> None:
    assert read(reply_with({"content": "hi", "tool_calls": calls})).tool_calls == ()


def test_a_null_error_is_none() -> None:
    assert read(reply_with({"content": "hi"}, error=None)).text == "hi"


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"<html>busy</html>", "got '<html>busy</html>'"),
        (b"", "an empty body"),
        (b"[1]", r"expected a JSON object, got '\[1\]'"),
        (b'{"a": "\xff"}', "expected a JSON object"),
        (b'{"usage":1e999}', "expected"),
        (b"{}", r"expected choices\[0\].message"),
        (b'{"choices":[]}', r"expected choices\[0\].message"),
        (b'{"choices":{"0":1}}', r"expected choices\[0\].message"),
        (b'{"choices":[null]}', r"expected choices\[0\].message"),
        (b'{"choices":[{"message":"hi"}]}', r"expected choices\[0\].message"),
        (b'{"choices":[{"message":{"content":null}}]}', "got content None"),
        (b'{"choices":[{"message":{"content":["a"]}}]}', "got content"),
        (b'{"choices":[{"message":{"content":"x"}}],"error":{"message":"bad"}}', "bad"),
        (b"[" * 100_000, "expected a JSON object"),
    ],
)
def test_what_is_no_reply_says_what_came(body: bytes, told: str) -> None:
    with pytest.raises(ModelReplyError, match=told):
        read_completion(body)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_reply_or_a_reply_error(body: bytes) -> None:
    try:
        read_completion(body)
    except ModelReplyError:
        pass


_json = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(_json, _json, _json, _json)
def test_any_json_in_any_place_is_a_reply_or_a_reply_error(
    content: Any, calls: Any, usage: Any, error: Any
) -> None:
    message = {"content": content, "tool_calls": calls}
    try:
        read(reply_with(message, usage=usage, error=error))
    except ModelReplyError:
        pass
