"""JSON-RPC 2.0 messages, read from and written to bytes without I/O, and without knowing of MCP.

    for message in read_messages(line):
        match message:
            case Request(id, method, params): ...
            case Notification(method, params): ...
            case Answer(id, result): ...
            case Failure(id, code, text, data): ...
            case Noise(why): ...                 # no such message: to be logged and skipped

Reading never raises. Batches (arrays, MCP 2025-03-26) are read as their messages, never written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

RequestId = int | str

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

SHOWN_BYTES = 200
"""Most bytes of an unreadable message that are shown."""


class Request(Struct, frozen=True):
    """Something the other side wants an answer to. `params` is {} if it sent none."""

    id: RequestId
    method: str
    params: dict[str, Any]


class Notification(Struct, frozen=True):
    """Something the other side wants no answer to."""

    method: str
    params: dict[str, Any]


class Answer(Struct, frozen=True):
    """The result of a request of ours; any JSON value."""

    id: RequestId
    result: Any


class Failure(Struct, frozen=True):
    """The error answer to a request; `id` is None where the other side could not read which one."""

    id: RequestId | None
    code: int
    message: str
    data: Any = None


class Noise(Struct, frozen=True):
    """Bytes that are no message; `why` says so, and shows how they begin."""

    why: str


Incoming = Request | Notification | Answer | Failure | Noise


class _Wire(Struct):
    """All that a message may hold; what is there decides what it is."""

    id: RequestId | UnsetType | None = UNSET
    method: str | UnsetType = UNSET
    params: Any = None
    result: Any = UNSET
    error: Any = UNSET


_decode_one = msgspec.json.Decoder(_Wire).decode
_decode_many = msgspec.json.Decoder(list[_Wire]).decode
_encode = msgspec.json.Encoder().encode


def read_messages(data: bytes) -> list[Incoming]:
    """The messages in one JSON text, a `Noise` if it is none; nothing for blanks."""
    text = data.strip()
    if not text:
        return []
    try:
        if text.startswith(b"["):
            return [_classified(each, text) for each in _decode_many(text)]
        return [_classified(_decode_one(text), text)]
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        return [Noise(f"no JSON-RPC message ({error}): {_shown(text)}")]


def _classified(wire: _Wire, text: bytes) -> Incoming:
    identity = wire.id
    if isinstance(wire.method, str):
        params = wire.params if isinstance(wire.params, dict) else {}
        if identity is UNSET or identity is None:
            return Notification(wire.method, params)
        return Request(identity, wire.method, params)
    if wire.error is not UNSET and wire.error is not None:
        return _failure(None if identity is UNSET else identity, wire.error)
    if wire.result is not UNSET and identity is not UNSET and identity is not None:
        return Answer(identity, wire.result)
    return Noise(f"JSON, but no JSON-RPC message: {_shown(text)}")


def _failure(identity: RequestId | None, error: Any) -> Failure:
    """An error answer, whatever the other side put into it."""
    if not isinstance(error, dict):
        return Failure(identity, INTERNAL_ERROR, str(error))
    code, message = error.get("code"), error.get("message")
    return Failure(
        identity,
        code if isinstance(code, int) and not isinstance(code, bool) else INTERNAL_ERROR,
        message if isinstance(message, str) and message else "an error without a message",
        error.get("data"),
    )


def _shown(text: bytes) -> str:
    shown = text[:SHOWN_BYTES].decode("utf-8", "replace")
    return f"{shown!r}{'...' if len(text) > SHOWN_BYTES else ''}"


# -- out --------------------------------------------------------------------------------------------


class _RequestOut(Struct):
    id: RequestId
    method: str
    params: Mapping[str, Any]
    jsonrpc: Literal["2.0"] = "2.0"


class _NotificationOut(Struct, omit_defaults=True):
    method: str
    jsonrpc: Literal["2.0"]
    params: Mapping[str, Any] | None = None


def request_bytes(identity: RequestId, method: str, params: Mapping[str, Any]) -> bytes:
    """A request as one line of JSON. Raises TypeError or ValueError for what JSON cannot hold."""
    return _encode(_RequestOut(identity, method, params))


def notification_bytes(method: str, params: Mapping[str, Any]) -> bytes:
    """A notification as one line of JSON."""
    return _encode(_NotificationOut(method, "2.0", params or None))


def answer_bytes(identity: RequestId, result: Any) -> bytes:
    """The result of the other side's request as one line of JSON."""
    return _encode({"jsonrpc": "2.0", "id": identity, "result": result})


def failure_bytes(identity: RequestId | None, code: int, message: str, data: Any = None) -> bytes:
    """The error answer to the other side's request as one line of JSON."""
    error = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return _encode({"jsonrpc": "2.0", "id": identity, "error": error})
