"""What a caller asks of a turn: checks it and says it in one line. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from actors.errors import InvalidArgument
from actors.model.message import ImagePart, Message, TextPart


def require_content(messages: Sequence[Message]) -> None:
    """Refuse messages that say nothing at all (gaia 1.2), and what is no message.

    Raises:
        InvalidArgument: there is no message, each is empty, or one is something else.
    """
    if not messages:
        raise InvalidArgument("a turn needs at least one message, got none")
    for message in messages:
        if not isinstance(message, Message):
            raise InvalidArgument(
                f"a turn takes messages, or the text of a question, got {type(message).__name__}"
            )
    if not any(_says_something(message) for message in messages):
        raise InvalidArgument("a turn needs a message with text or an image, got only empty ones")


def summary_of(messages: Sequence[Message]) -> str:
    """The task in one line: the last user message's text, or its text parts and `[N image(s)]` (gaia 1.3)."""
    for message in reversed(messages):
        if message.role == "user":
            return _in_words(message)
    return next((message.content for message in messages if message.content), "")


def _says_something(message: Message) -> bool:
    return bool(message.content) or any(
        isinstance(part, ImagePart) or bool(part.text) for part in message.parts
    )


def _in_words(message: Message) -> str:
    if not message.parts:
        return message.content
    words = " ".join(part.text for part in message.parts if isinstance(part, TextPart))
    images = sum(isinstance(part, ImagePart) for part in message.parts)
    return f"{words} [{images} image(s)]" if images else words
