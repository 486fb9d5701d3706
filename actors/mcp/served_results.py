"""A tool's JSON result as the result of `tools/call`: the other direction of `actors.mcp.results`."""

from __future__ import annotations

from typing import Any

from msgspec import Raw

from actors.output.json_text import compact_json, printable

_FAILURE = frozenset(("status", "error"))


def call_result(value: Any) -> dict[str, Any]:
    """What a client is answered.

    Text stays text. An object is `structuredContent`, and JSON text for clients that show only that; any
    other value is JSON text. An object whose `status` is `error` (gaia 4) has `isError`, and where it says
    nothing but its `error` that is the text.
    """
    if isinstance(value, str):
        return {"content": [_text(value)]}
    as_json = compact_json(value)
    if not isinstance(value, dict):
        return {"content": [_text(as_json)]}
    if value.get("status") != "error":
        return {"content": [_text(as_json)], "structuredContent": Raw(as_json.encode())}
    error = value.get("error")
    alone = isinstance(error, str) and value.keys() == _FAILURE
    return failed(str(error) if alone else as_json)


def failed(text: str) -> dict[str, Any]:
    """The result of a call that failed."""
    return {"content": [_text(text)], "isError": True}


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": printable(text)}
