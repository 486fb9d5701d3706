"""Results of MCP tools, for programs and for models."""

from __future__ import annotations

import base64
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.errors import McpProtocolError
from actors.mcp.results import (
    UNNAMED_ERROR,
    LinkBlock,
    MediaBlock,
    OtherBlock,
    ResourceBlock,
    TextBlock,
    read_result,
    tool_output,
)

PICTURE = base64.b64encode(b"\x89PNG" * 100).decode()
TEXT = {"type": "text", "text": "hello"}
IMAGE = {"type": "image", "data": PICTURE, "mimeType": "image/png"}
LINK = {"type": "resource_link", "uri": "file:///a", "name": "a", "size": 3, "icons": [{}]}
FILE = {"type": "resource", "resource": {"uri": "file:///b", "text": "b", "mimeType": "text/plain"}}
BLOB = {"type": "resource", "resource": {"uri": "file:///c", "blob": PICTURE}}
STRANGE = {"type": "hologram", "data": PICTURE, "depth": 3, "inner": {"blob": PICTURE}}


# -- for a model ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        ({"content": [TEXT]}, "hello"),
        ({"content": [TEXT, TEXT]}, "hello\nhello"),
        ({"content": []}, ""),
        ({}, ""),
        (
            {"content": [TEXT], "isError": False, "_meta": {"a": 1}, "resultType": "complete"},
            "hello",
        ),
        ({"content": [{"type": "text", "text": '{"a": 1}'}]}, '{"a": 1}'),
    ],
)
def test_text_alone_is_the_text(result: Any, shown: Any) -> None:
    assert tool_output(result) == shown


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        ({"content": [], "structuredContent": {"a": 1}}, {"a": 1}),
        ({"structuredContent": [1, 2]}, [1, 2]),
        ({"content": [{"type": "text", "text": ""}], "structuredContent": {"a": 1}}, {"a": 1}),
        (
            {"content": [{"type": "text", "text": '{ "a":1}'}], "structuredContent": {"a": 1}},
            {"a": 1},
        ),
    ],
)
def test_structured_content_is_shown_where_the_text_says_no_more(result: Any, shown: Any) -> None:
    assert tool_output(result) == shown


def test_a_text_that_says_something_else_than_the_structured_content_is_shown() -> None:
    assert tool_output({"content": [TEXT], "structuredContent": {"result": "hello"}}) == "hello"


def test_structured_content_beside_a_picture_is_shown_with_it() -> None:
    assert tool_output({"content": [IMAGE], "structuredContent": {"a": 1}}) == {
        "structuredContent": {"a": 1},
        "content": [{"type": "image", "mimeType": "image/png", "bytes": 400}],
    }


def test_what_is_not_text_is_described_and_its_bytes_are_counted() -> None:
    assert tool_output({"content": [TEXT, IMAGE, LINK, FILE, BLOB, STRANGE]}) == [
        TEXT,
        {"type": "image", "mimeType": "image/png", "bytes": 400},
        {"type": "resource_link", "uri": "file:///a", "name": "a", "size": 3},
        {"type": "resource", "uri": "file:///b", "mimeType": "text/plain", "text": "b"},
        {"type": "resource", "uri": "file:///c", "bytes": 400},
        {"type": "hologram", "data": {"bytes": 400}, "depth": 3, "inner": {"blob": {"bytes": 400}}},
    ]


@pytest.mark.parametrize(
    ("result", "error"),
    [
        ({"content": [TEXT], "isError": True}, "hello"),
        ({"content": [TEXT, IMAGE], "isError": True}, "hello"),
        ({"content": [], "isError": True}, UNNAMED_ERROR),
        ({"isError": True}, UNNAMED_ERROR),
        ({"isError": True, "structuredContent": {"code": 3}}, '{"code":3}'),
        (
            {"isError": True, "content": [IMAGE]},
            '[{"type":"image","mimeType":"image/png","bytes":400}]',
        ),
    ],
)
def test_a_failed_tool_is_an_error_result_that_says_why(result: Any, error: str) -> None:
    assert tool_output(result) == {"status": "error", "error": error}


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        ({"content": "hello"}, "hello"),
        ({"content": TEXT}, "hello"),
        ({"content": ["hello", "you"]}, "hello\nyou"),
        ({"content": None}, ""),
        ({"toolResult": {"a": 1}}, {"a": 1}),
        ({"temperature": 20, "_meta": {}}, {"temperature": 20}),
        ({"content": [{"type": "text"}]}, [{"type": "text"}]),
        ({"content": [{"type": "image"}]}, [{"type": "image"}]),
    ],
)
def test_what_servers_get_wrong_is_read_as_it_was_meant(result: Any, shown: Any) -> None:
    assert tool_output(result) == shown


@pytest.mark.parametrize("result", [None, [], "hello", 3])
def test_no_object_is_an_error_result(result: Any) -> None:
    assert "expected an object" in tool_output(result)["error"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.sampled_from(
                ["content", "type", "text", "data", "blob", "resource", "uri", "isError", "x"]
            ),
            inner | st.sampled_from(["text", "image", "resource", "resource_link"]),
        )
    ),
    max_leaves=12,
)


@given(json_values)
def test_whatever_a_server_sends_gives_json(result: Any) -> None:
    msgspec.json.encode(tool_output(result))
    msgspec.json.encode(tool_output({"content": [result], "isError": True}))


# -- typed ------------------------------------------------------------------------------------------


def test_blocks_are_typed_and_keep_their_data() -> None:
    audio = {"type": "audio", "data": PICTURE, "mimeType": "audio/wav"}
    noted = {"audience": ["user"]}
    result = read_result(
        "server 'a'",
        {
            "content": [{**TEXT, "annotations": noted}, IMAGE, audio, LINK, FILE, BLOB, STRANGE],
            "structuredContent": {"a": 1},
            "isError": True,
            "_meta": {"b": 2},
        },
    )
    assert result.content == (
        TextBlock("hello", noted),
        MediaBlock("image", PICTURE, "image/png"),
        MediaBlock("audio", PICTURE, "audio/wav"),
        LinkBlock("file:///a", "a", "", LINK),
        ResourceBlock("file:///b", text="b", mime_type="text/plain"),
        ResourceBlock("file:///c", blob=PICTURE),
        OtherBlock(STRANGE),
    )
    assert (result.structured, result.is_error, result.meta) == ({"a": 1}, True, {"b": 2})
    assert result.text == "hello"


def test_the_bytes_of_a_picture_can_be_had() -> None:
    assert MediaBlock("image", PICTURE).content() == b"\x89PNG" * 100
    with pytest.raises(ValueError, match="base64"):
        MediaBlock("image", "not base64!").content()


def test_a_result_that_is_no_object_is_an_error_that_names_the_server() -> None:
    with pytest.raises(McpProtocolError, match=r"^server 'a': expected an object .* got list"):
        read_result("server 'a'", [])
