"""A tool's result as a client gets it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from actors.mcp.served_results import call_result


def sent(value: Any) -> Any:
    """As it arrives."""
    return msgspec.json.decode(msgspec.json.encode(call_result(value)))


def text(shown: str) -> list[dict[str, str]]:
    """One block of text."""
    return [{"type": "text", "text": shown}]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("", ""),
        ("plain \u00fc\u2764", "plain \u00fc\u2764"),
        ("half \ud800", "half \ufffd"),
        (42, "42"),
        (None, "null"),
        (True, "true"),
        ([1, {"a": 2}], '[1,{"a":2}]'),
    ],
)
def test_what_is_no_object_is_text(value: Any, shown: str) -> None:
    assert sent(value) == {"content": text(shown)}


@pytest.mark.parametrize("value", [{}, {"a": [1]}, {"status": "ok", "error": "none"}])
def test_an_object_is_structured_and_text(value: dict[str, Any]) -> None:
    result = sent(value)
    assert result["structuredContent"] == value
    assert msgspec.json.decode(result["content"][0]["text"]) == value
    assert "isError" not in result


def test_an_object_that_utf_8_cannot_hold_is_mended() -> None:
    assert sent({"name": "\udcff"})["structuredContent"] == {"name": "\ufffd"}


def test_an_error_is_its_text() -> None:
    value = {"status": "error", "error": "it broke \ud800"}
    assert sent(value) == {"content": text("it broke \ufffd"), "isError": True}


@pytest.mark.parametrize(
    "value", [{"status": "error"}, {"status": "error", "error": 1}, {"status": "error", "at": 3}]
)
def test_an_error_that_says_more_is_all_of_it(value: dict[str, Any]) -> None:
    result = sent(value)
    assert result["isError"]
    assert msgspec.json.decode(result["content"][0]["text"]) == value
