"""What went wrong, in the words of the model server: reads the `error` of a JSON body (gaia 9.5).

Pure and total: any JSON value gives a text. Understood, in this order: Lemonade's nesting
(`error.details.response.error.message`), OpenAI's `error.message`, an `error` that is a text, FastAPI's
`detail`. A context that is too small is told with its numbers and with what to do.
"""

from __future__ import annotations

from typing import Any

import msgspec

_TOO_LONG = "exceeds the available context size"
_GENERIC = "the model server reported an error without a message"


def has_error(body: Any) -> bool:
    """Whether a decoded body reports an error: it has an `error` that is not null."""
    return isinstance(body, dict) and body.get("error") is not None


def error_message(error: Any) -> str:
    """The text of the `error` value of a body."""
    inner = _dig(error, "details", "response", "error")
    for each in (inner, error):
        message = _dig(each, "message")
        if isinstance(message, str) and message:
            return _with_advice(message, each)
    if isinstance(error, str) and error:
        return error
    return _GENERIC


def message_of_body(body: bytes) -> str | None:
    """The text of the error that a whole JSON body tells, or None if it tells none."""
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return None
    if has_error(value):
        return error_message(value["error"])
    detail = _dig(value, "detail")
    return detail if isinstance(detail, str) else None


def _dig(value: Any, *keys: str) -> Any:
    for key in keys:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def _with_advice(message: str, error: dict[str, Any]) -> str:
    if _TOO_LONG not in message:
        return message
    tokens, window = error.get("n_prompt_tokens"), error.get("n_ctx")
    if tokens is None or window is None:
        return f"{message}; restart the model server with a larger context size"
    return (
        f"the prompt of {tokens} tokens exceeds the available context size of {window} tokens; "
        "restart the model server with a larger context size"
    )
