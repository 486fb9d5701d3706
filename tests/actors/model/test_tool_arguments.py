"""Arguments a tool does not have are dropped from calls."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import Raw

from actors.model.tool_arguments import known_arguments, without_unknown


def tool(name: str, *parameters: str, **more: Any) -> dict[str, Any]:
    """An entry of a `tools` array."""
    schema = {"type": "object", "properties": {each: {} for each in parameters}, **more}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


def call(name: str, arguments: Any) -> dict[str, Any]:
    """A raw call."""
    return {"id": "1", "type": "function", "function": {"name": name, "arguments": arguments}}


KNOWN = known_arguments(
    Raw(
        msgspec.json.encode(
            [tool("add", "a", "b"), tool("now"), tool("any", additionalProperties=True)]
        )
    )
)


@pytest.mark.parametrize(
    ("name", "arguments", "cleaned"),
    [
        ("add", '{"a":1,"b":2,"type":"object"}', '{"a":1,"b":2}'),
        ("now", '{"type":"object","properties":{}}', "{}"),
        ("now", {"type": "object"}, "{}"),
    ],
)
def test_what_the_tool_does_not_have_is_dropped(name: str, arguments: Any, cleaned: str) -> None:
    assert without_unknown([call(name, arguments)], KNOWN) == [call(name, cleaned)]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("add", '{"a": 1, "b": {"type": "number"}}'),
        ("add", '{"a": 1}'),
        ("add", ""),
        ("add", "[1, 2]"),
        ("add", '{"a": '),
        ("other", '{"x": 1}'),
        ("any", '{"x": 1}'),
        (None, "{}"),
        ([], "{}"),
    ],
)
def test_everything_else_stays_as_it_is(name: Any, arguments: Any) -> None:
    calls = [call(name, arguments)]
    assert without_unknown(calls, KNOWN) == calls


@pytest.mark.parametrize("calls", [{}, "calls", None, ["x", {"function": 1}, {}]])
def test_what_is_no_list_of_calls_stays_as_it_is(calls: Any) -> None:
    assert without_unknown(calls, KNOWN) == calls
