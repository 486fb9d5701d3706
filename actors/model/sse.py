"""Server-sent events of chat completions, decoded without I/O: feed bytes in any split, take tokens.

Lines end at LF, a CR before it is dropped, and a last line without LF is never read. Only `data:` lines
count; `[DONE]` ends the stream for good. Payloads that are no such JSON are skipped silently (gaia 10).
Deltas of tool calls are merged by index (gaia 2.4).
"""

from __future__ import annotations

from typing import Any

import msgspec

from actors.errors import ModelReplyError
from actors.model.completion import read_usage
from actors.model.message import ToolCall, Usage

LINE_LIMIT = 8 * 1024 * 1024
"""Default for the longest line, in bytes; a longer one is an error, not memory without end."""


class _Building:
    """A tool call that is being put together."""

    __slots__ = ("arguments", "id", "name")

    def __init__(self) -> None:
        self.id = ""
        self.name: list[str] = []
        self.arguments: list[str] = []

    def add(self, delta: dict[str, Any]) -> None:
        """Merge a delta: the first id wins; a delta with an id replaces the name, one without appends."""
        identity = _text(delta.get("id"))
        function = delta.get("function")
        function = function if isinstance(function, dict) else {}
        name = _text(function.get("name"))
        if identity and name:
            self.name = [name]
        elif not identity:
            self.name.append(name)
        self.id = self.id or identity
        self.arguments.append(_text(function.get("arguments")))

    def call(self) -> ToolCall:
        """The call as far as it has come."""
        return ToolCall(self.id, "".join(self.name), "".join(self.arguments))


class SSEDecoder:
    """One stream. `done` once `[DONE]` has come; what follows it is ignored.

    `line_limit` bounds a line in bytes. Time is linear in what is fed, however it is split.
    """

    def __init__(self, *, line_limit: int = LINE_LIMIT) -> None:
        self._line_limit = line_limit
        self._pending: list[bytes] = []
        self._pending_size = 0
        self._calls: dict[int, _Building] = {}
        self.done = False
        self.has_tokens = False
        self.usage: Usage | None = None

    @property
    def has_tool_calls(self) -> bool:
        """Whether a part of a tool call has come."""
        return bool(self._calls)

    @property
    def tool_calls(self) -> list[ToolCall]:
        """The calls so far, in index order; incomplete before `done`."""
        return [self._calls[index].call() for index in sorted(self._calls)]

    def feed(self, data: bytes) -> list[str]:
        """Take the next bytes; the tokens they complete.

        Raises:
            ModelReplyError: a line is longer than the limit.
        """
        tokens: list[str] = []
        if self.done:
            return tokens
        *lines, rest = data.split(b"\n")
        if lines:
            lines[0] = b"".join((*self._pending, lines[0]))
            self._pending, self._pending_size = [], 0
        for line in lines:
            self._require_short(len(line))
            self._line(line, tokens)
            if self.done:
                return tokens
        self._keep(rest)
        return tokens

    def _keep(self, rest: bytes) -> None:
        self._pending_size += len(rest)
        self._require_short(self._pending_size)
        if rest:
            self._pending.append(rest)

    def _require_short(self, size: int) -> None:
        if size > self._line_limit:
            raise ModelReplyError(
                f"a line of the model's stream is longer than {self._line_limit} bytes; "
                "expected events of one line each"
            )

    def _line(self, line: bytes, tokens: list[str]) -> None:
        if not line.startswith(b"data:"):
            return
        payload = line[5:].rstrip(b"\r").strip(b" ")
        if payload == b"[DONE]":
            self.done = True
            return
        try:
            event = msgspec.json.decode(payload)
        except (msgspec.DecodeError, RecursionError):
            return
        if isinstance(event, dict):
            self._event(event, tokens)

    def _event(self, event: dict[str, Any], tokens: list[str]) -> None:
        usage = read_usage(event.get("usage"))
        if usage is not None:
            self.usage = usage
        delta = _first_delta(event)
        content = delta.get("content")
        if isinstance(content, str) and content:
            self.has_tokens = True
            tokens.append(content)
        calls = delta.get("tool_calls")
        if isinstance(calls, list):
            self._merge(calls)

    def _merge(self, deltas: list[Any]) -> None:
        for position, delta in enumerate(deltas):
            if not isinstance(delta, dict):
                continue
            index = delta.get("index")
            slot = index if isinstance(index, int) and not isinstance(index, bool) else position
            self._calls.setdefault(slot, _Building()).add(delta)


def _first_delta(event: dict[str, Any]) -> dict[str, Any]:
    choices = event.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    delta = first.get("delta") if isinstance(first, dict) else None
    return delta if isinstance(delta, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
