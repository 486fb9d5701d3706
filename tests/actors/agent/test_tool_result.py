"""What a model sees of a tool's result, and when a result is an error."""

from __future__ import annotations

from typing import Any

import pytest

from actors.agent.rules import clipped_result, plain_result
from actors.agent.tool_result import UNNAMED_ERROR, error_of, result_text
from actors.tools.decision import error_result


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ({"b": 1, "a": [1.5, None, True]}, '{"a":[1.5,null,true],"b":1}'),
        ("plain", '"plain"'),
        (None, "null"),
        ({"text": "é"}, '{"text":"é"}'),
        ({"text": "half \ud800"}, '{"text":"half ?"}'),
        ({"n": 2**70}, '{"n":1180591620717411303424}'),
    ],
)
def test_a_result_becomes_compact_json(result: Any, text: str) -> None:
    assert result_text(result) == text


def _deep() -> Any:
    nested: Any = []
    for _ in range(100_000):
        nested = [nested]
    return nested


@pytest.mark.parametrize("result", [{"x": object()}, {1: "no text key"}, _deep()])
def test_a_result_that_is_no_json_becomes_an_error_result(result: Any) -> None:
    assert '"status":"error"' in result_text(result)


@pytest.mark.parametrize(
    ("result", "error"),
    [
        (error_result("disk full"), "disk full"),
        ({"status": "error", "error": ""}, UNNAMED_ERROR),
        ({"status": "error"}, UNNAMED_ERROR),
        ({"status": "error", "error": None}, UNNAMED_ERROR),
        ({"status": "error", "error": {"code": 17}}, '{"code":17}'),
        ({"status": "ok", "error": "left over"}, None),
        ({"status": 200}, None),
        ({"status": None}, None),
        ({"error": "no status"}, None),
        ("error", None),
        (None, None),
    ],
)
def test_only_the_status_error_makes_a_result_an_error(result: Any, error: str | None) -> None:
    assert error_of(result) == error


def test_gaia_rules_clip_the_json() -> None:
    assert len(clipped_result({"text": "x" * 5000})) == 3519


def test_vix_rules_give_the_plain_text_or_the_failure() -> None:
    assert plain_result("read this") == "read this"
    assert plain_result({"a": 1}) == '{"a":1}'
    assert plain_result(error_result("disk full")) == "Tool failed: disk full"
