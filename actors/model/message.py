"""What is said between a user, a model and tools: messages, tool calls, usage.

Plain frozen values, shared and never copied. The wire form is the OpenAI chat-completions one
(gaia 1.1): parts, when present, replace content; an assistant message that has tool calls and
empty content sends `content: null`; `name` and `tool_call_id` are sent only when set.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from msgspec import Struct

Role = Literal["system", "user", "assistant", "tool"]


class ToolCall(Struct, frozen=True):
    """One call the model asks for. `arguments` is the raw JSON text the model wrote."""

    id: str
    name: str
    arguments: str = ""

    def wire(self) -> dict[str, Any]:
        """The call as chat completions spell it."""
        function = {"name": self.name, "arguments": self.arguments}
        return {"id": self.id, "type": "function", "function": function}


class TextPart(Struct, frozen=True):
    """A piece of text among the parts of a message."""

    text: str

    def wire(self) -> dict[str, Any]:
        """The part as chat completions spell it."""
        return {"type": "text", "text": self.text}


class ImagePart(Struct, frozen=True):
    """An image among the parts of a message; `url` is a data URI or an address."""

    url: str

    def wire(self) -> dict[str, Any]:
        """The part as chat completions spell it."""
        return {"type": "image_url", "image_url": {"url": self.url}}


Part = TextPart | ImagePart


class Message(Struct, frozen=True):
    """One message of a conversation.

    `name` is the tool's name on tool results. `parts`, when not empty, replace `content` on the
    wire. `tool_calls` are sent for assistant messages only.
    """

    role: Role
    content: str = ""
    name: str | None = None
    tool_call_id: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    parts: tuple[Part, ...] = ()

    def wire(self) -> dict[str, Any]:
        """The message as chat completions spell it."""
        content: Any = [part.wire() for part in self.parts] if self.parts else self.content
        out: dict[str, Any] = {"role": self.role, "content": content}
        if self.role == "assistant" and self.tool_calls:
            out["content"] = content or None
            out["tool_calls"] = [call.wire() for call in self.tool_calls]
        if self.name is not None:
            out["name"] = self.name
        if self.tool_call_id is not None:
            out["tool_call_id"] = self.tool_call_id
        return out


class Usage(Struct, frozen=True):
    """Tokens a reply, or a whole turn, has cost. Zero where the server does not say."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        """The sum, field by field."""
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.total_tokens + other.total_tokens,
        )


def user_message(text: str, image_urls: Sequence[str] = ()) -> Message:
    """What a user says: text, then images in order; plain content where there are none (gaia 13)."""
    if not image_urls:
        return Message("user", text)
    words: tuple[Part, ...] = (TextPart(text),) if text else ()
    return Message("user", parts=(*words, *(ImagePart(url) for url in image_urls)))
