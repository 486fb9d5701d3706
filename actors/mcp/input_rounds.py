"""Modern requests that need input: answer the server's questions and make the request anew (MCP 2026-07-28).

A result with `resultType: input_required` holds questions (`inputRequests`) and a `requestState` of the
server's, which goes back untouched. The request made anew has another id.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

from actors.errors import McpProtocolError, McpRefused
from actors.mcp.dispatcher import Refusal
from actors.mcp.hooks import Questions

ROUNDS: Final = 10
"""Most rounds of questions for one request."""

_PAUSES: Final = (0.05, 0.1, 0.2)
"""Seconds before a round without questions, which is the server's way to say "later"; the last repeats."""


def needs_input(result: object) -> bool:
    """Whether a result is a question."""
    return isinstance(result, dict) and result.get("resultType") == "input_required"


async def until_complete(
    peer: str,
    method: str,
    result: dict[str, Any],
    questions: Questions,
    again: Callable[[dict[str, Any]], Awaitable[Any]],
) -> Any:
    """The result after all rounds. `again` makes the request anew with these parameters added.

    Raises:
        McpRefused: nobody here answers such a question; its code is that of the refusal.
        McpProtocolError: the questions cannot be read, or do not end.
    """
    pauses = 0
    for _ in range(ROUNDS):
        asked = result.get("inputRequests") or {}
        if asked:
            more = {"inputResponses": await _answers(peer, method, asked, questions)}
        else:
            await asyncio.sleep(_PAUSES[min(pauses, len(_PAUSES) - 1)])
            pauses, more = pauses + 1, {}
        if "requestState" in result:
            more["requestState"] = result["requestState"]
        result = await again(more)
        if not needs_input(result):
            return result
    raise McpProtocolError(f"{peer} still wants input for {method} after {ROUNDS} rounds")


async def _answers(peer: str, method: str, asked: object, questions: Questions) -> dict[str, Any]:
    if not isinstance(asked, dict):
        raise McpProtocolError(f"{peer} wants input for {method}, but inputRequests is no object")
    answers = {}
    for key, question in asked.items():
        kind = question.get("method") if isinstance(question, dict) else None
        params = question.get("params") if isinstance(question, dict) else None
        if not isinstance(kind, str):
            raise McpProtocolError(f"{peer} wants input {key!r} for {method} without a method")
        try:
            answers[key] = await questions.answer(kind, params if isinstance(params, dict) else {})
        except Refusal as refusal:
            raise McpRefused(
                f"{peer} wants input for {method} that nobody here gives: {refusal}",
                code=refusal.code,
            ) from refusal
    return answers
