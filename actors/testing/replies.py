"""What a scripted model server answers with, and what it keeps of a request.

Replies are plain frozen values; `ScriptedModelServer` sends them. Each may wait `delay_s` seconds
before its first byte.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct, field


class JsonReply(Struct, frozen=True):
    """`value` as a JSON body."""

    value: Any
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0


class BodyReply(Struct, frozen=True):
    """A body as it is: HTML, broken JSON, an error page. Text goes out as UTF-8."""

    body: bytes | str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    delay_s: float = 0.0


class BigReply(Struct, frozen=True):
    """A JSON string of `size_bytes`, made while it is sent.

    `announced` false leaves Content-Length out, so that only counting shows the size.
    """

    size_bytes: int
    announced: bool = True
    delay_s: float = 0.0


class SSEReply(Struct, frozen=True):
    """An event stream; each chunk is sent, as it is, as one HTTP chunk.

    `ending` says what follows the last one: `whole` ends the body properly (with or without a
    `[DONE]`, as the chunks have it), `cut` closes the connection in the middle of the body, `reset`
    resets it, `silent` sends nothing more until the client goes.
    """

    chunks: tuple[str | bytes, ...] | list[str | bytes] | list[str]
    ending: Literal["whole", "cut", "reset", "silent"] = "whole"
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0


class Failure(Struct, frozen=True):
    """No whole answer. The request has been read and is recorded.

    kind      what the client sees
    `close`   the connection closes before a byte of an answer. On a connection that was used before
              this is what a keep-alive connection gone stale looks like, which a client may retry.
    `cut`     headers and half of a body, then the connection closes
    `reset`   headers and half of a body, then the connection is reset
    `silent`  nothing, until the client goes
    """

    kind: Literal["close", "cut", "reset", "silent"] = "cut"
    delay_s: float = 0.0


Reply = JsonReply | BodyReply | BigReply | SSEReply | Failure


class RecordedRequest(Struct, frozen=True):
    """A request as it came. Header names are in lower case; `path` is without the query."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes
    connection: int

    @property
    def json(self) -> Any:
        """The decoded body. Raises msgspec.DecodeError if it is no JSON."""
        return msgspec.json.decode(self.body)


def answer(text: str | None, *, usage: Mapping[str, Any] | None = None) -> JsonReply:
    """A chat completion that says `text`."""
    return _completion({"role": "assistant", "content": text}, usage)


def tool_calls(
    *calls: tuple[str, str, str], text: str | None = None, usage: Mapping[str, Any] | None = None
) -> JsonReply:
    """A chat completion with native tool calls, each as (id, name, arguments as JSON text)."""
    wire = [
        {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}
        for id_, name, arguments in calls
    ]
    return _completion({"role": "assistant", "content": text, "tool_calls": wire}, usage)


def answer_chunks(*pieces: str, done: bool = True) -> list[str]:
    """The chunks of an SSEReply that says `pieces`, one event each, and `[DONE]` if `done`."""
    events = [_event({"choices": [{"delta": {"content": piece}}]}) for piece in pieces]
    return [*events, "data: [DONE]\n\n"] if done else events


def _completion(message: Mapping[str, Any], usage: Mapping[str, Any] | None) -> JsonReply:
    value: dict[str, Any] = {"choices": [{"index": 0, "message": message}]}
    if usage is not None:
        value["usage"] = usage
    return JsonReply(value)


def _event(value: Any) -> str:
    return f"data: {msgspec.json.encode(value).decode()}\n\n"
