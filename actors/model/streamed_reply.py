"""`StreamedReply`: the answer to a request for a stream, put together while its bytes come. No I/O.

Feed bytes in any split, take tokens, and at the end the whole reply. Servers answer such a request in
three ways, and all are read: an event stream (gaia 10), one plain JSON body, or an `error` in either.
"""

from __future__ import annotations

from typing import Any

from actors.errors import ModelReplyError
from actors.model.completion import read_completion
from actors.model.error_body import message_of_body
from actors.model.http_errors import clipped
from actors.model.provider import ModelReply
from actors.model.sse import SSEDecoder


class StreamedReply:
    """One answer. What came is kept only until the first token or tool call shows what it is."""

    def __init__(self) -> None:
        self._decoder = SSEDecoder()
        self._tokens: list[str] = []
        self._unread: list[bytes] | None = []

    @property
    def done(self) -> bool:
        """Whether `[DONE]` came; what follows it is ignored."""
        return self._decoder.done

    @property
    def tool_calls(self) -> list[dict[str, Any]]:
        """The calls so far, merged (gaia 2.4), in wire form."""
        return [call.wire() for call in self._decoder.tool_calls]

    def feed(self, data: bytes) -> list[str]:
        """Take the next bytes; return the tokens they complete."""
        tokens = self._decoder.feed(data)
        self._tokens += tokens
        if self._unread is not None:
            self._unread.append(data)
            if self._decoder.has_tokens or self._decoder.has_tool_calls:
                self._unread = None
        return tokens

    def reply(self) -> ModelReply:
        """The whole reply, after the last bytes.

        `complete` is false for an event stream without `[DONE]`; its text counts, its calls are the
        protocol's to refuse.

        Raises:
            ModelReplyError: there was no text, no tool call and no plain reply, but perhaps an error.
        """
        if self._unread is not None:
            return _read_plain(b"".join(self._unread))
        return ModelReply(
            "".join(self._tokens) if self._tokens else None,
            self.tool_calls,
            self._decoder.usage,
            complete=self._decoder.done,
        )


def _read_plain(body: bytes) -> ModelReply:
    """Read an answer in which no event said anything."""
    if body.lstrip()[:1] == b"{":
        return read_completion(body)
    for line in body.split(b"\n"):
        told = message_of_body(line[5:]) if line.startswith(b"data:") else None
        if told is not None:
            raise ModelReplyError(told)
    what = repr(clipped(body, 200)) if body.strip() else "an empty body"
    raise ModelReplyError(f"expected a stream with text or tool calls, got {what}")
