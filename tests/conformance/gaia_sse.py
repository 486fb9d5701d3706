"""The area gaia/sse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from actors.model.sse import SSEDecoder


def run(given: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    """Feed the chunks, or the text cut into pieces."""
    decoder = SSEDecoder()
    tokens: list[str] = []
    returns: list[bool] = []
    for piece in _pieces(given):
        tokens += decoder.feed(piece)
        returns.append(not decoder.done)
    return {
        "tokens": tokens,
        "tool_calls": [asdict(call) for call in decoder.tool_calls],
        "done": decoder.done,
        "has_tokens": decoder.has_tokens,
        "has_tool_calls": decoder.has_tool_calls,
        "feed_returns": returns,
    }


def _pieces(given: dict[str, Any]) -> list[bytes]:
    if "chunks" in given:
        return [chunk.encode() for chunk in given["chunks"]]
    data, size = given["text"].encode(), given["split"]
    return [data[at : at + size] for at in range(0, len(data), size)]
