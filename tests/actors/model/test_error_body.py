"""What went wrong, in the server's words."""

from __future__ import annotations

from typing import Any

import pytest

from actors.model.error_body import error_message, has_error, message_of_body

TOO_LONG = "the request exceeds the available context size. try increasing it"
COUNTED = {"message": TOO_LONG, "n_prompt_tokens": 5000, "n_ctx": 4096}


def nested(inner: Any) -> dict[str, Any]:
    return {"details": {"response": {"error": inner}}, "message": "outer"}


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (nested({"message": "inner"}), "inner"),
        (nested({"message": 7}), "outer"),
        (nested("inner"), "outer"),
        ({"message": "plain", "code": 400}, "plain"),
        ("just text", "just text"),
        ({}, "the model server reported an error without a message"),
        (True, "the model server reported an error without a message"),
    ],
)
def test_the_best_message_is_taken(error: Any, text: str) -> None:
    assert error_message(error) == text


@pytest.mark.parametrize("error", [COUNTED, nested(COUNTED)])
def test_a_context_too_small_is_told_with_numbers_and_advice(error: Any) -> None:
    text = error_message(error)
    assert "5000 tokens exceeds the available context size of 4096 tokens" in text
    assert "restart the model server with a larger context size" in text


def test_a_context_too_small_without_numbers_still_has_the_advice() -> None:
    assert error_message({"message": TOO_LONG}).endswith("with a larger context size")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b'{"error":{"message":"bad"}}', "bad"),
        (b'{"error":"bad"}', "bad"),
        (b'{"detail":"not found"}', "not found"),
        (b'{"detail":[1]}', None),
        (b'{"error":null}', None),
        (b"<html>", None),
        (b"[1]", None),
        (b"", None),
        (b"[" * 100_000, None),
    ],
)
def test_a_whole_body_tells_an_error_or_nothing(body: bytes, text: str | None) -> None:
    assert message_of_body(body) == text


@pytest.mark.parametrize("body", [None, [], {}, {"error": None}, "error"])
def test_a_body_without_an_error_has_none(body: Any) -> None:
    assert not has_error(body)
