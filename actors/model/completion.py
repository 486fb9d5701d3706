"""The chat-completions wire form, plain: the body of a request, and how a whole reply is read.

Pure, no I/O. The request has exactly the keys of gaia 1.6 and 2.2, in that order. The reply is read as
leniently as the protocols allow: what a server leaves out or writes as null costs nothing, what makes
the reply useless is a `ModelReplyError` that says what came.
"""

from __future__ import annotations

from typing import Any

import msgspec

from actors.errors import ModelReplyError
from actors.model.error_body import error_message, has_error
from actors.model.http_errors import clipped
from actors.model.message import Usage
from actors.model.provider import ModelReply, ModelRequest

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


def encode_request(request: ModelRequest, *, stream: bool) -> bytes:
    """The body that asks for `request`. Messages and tools are copied in as they are, not encoded anew."""
    parts: list[Any] = [
        b'{"model":',
        _encode(request.model),
        b',"max_tokens":%d,"temperature":' % request.max_tokens,
        _encode(request.temperature),
        b',"messages":[',
        b",".join(request.messages),
        b"]",
    ]
    if request.tools is not None:
        parts += [b',"tools":', request.tools, b',"tool_choice":', _encode(request.tool_choice)]
    parts.append(b',"stream":true}' if stream else b"}")
    return b"".join(parts)


def read_completion(body: bytes) -> ModelReply:
    """Read a whole reply.

    Raises:
        ModelReplyError: no JSON object, an `error` in it (gaia 9.5), no `choices[0].message`, or a
            message with neither text nor tool calls.
    """
    reply = decode_object(body)
    if has_error(reply):
        raise ModelReplyError(error_message(reply["error"]))
    message = _message(reply, body)
    content, calls = message.get("content"), message.get("tool_calls") or ()
    text = content if isinstance(content, str) else None
    if text is None and not calls:
        raise ModelReplyError(
            f"expected a message with text or tool calls, got content {content!r:.200}"
        )
    return ModelReply(text, calls, read_usage(reply.get("usage")))


def decode_object(body: bytes) -> dict[str, Any]:
    """The JSON object that `body` is. Raises ModelReplyError."""
    try:
        value = _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
        raise ModelReplyError(f"expected a JSON object, got {_shown(body)} ({exc})") from exc
    if not isinstance(value, dict):
        raise ModelReplyError(f"expected a JSON object, got {_shown(body)}")
    return value


def read_usage(value: Any) -> Usage | None:
    """Token counts of a reply: None if there are none at all, 0 for each that is no number."""
    if not isinstance(value, dict):
        return None
    return Usage(
        prompt_tokens=_count(value.get("prompt_tokens")),
        completion_tokens=_count(value.get("completion_tokens")),
        total_tokens=_count(value.get("total_tokens")),
    )


def _message(reply: dict[str, Any], body: bytes) -> dict[str, Any]:
    choices = reply.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    if not isinstance(message, dict):
        raise ModelReplyError(f"expected choices[0].message in the reply, got {_shown(body)}")
    return message


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return max(0, int(value))


def _shown(body: bytes) -> str:
    return repr(clipped(body, 200)) if body.strip() else "an empty body"
