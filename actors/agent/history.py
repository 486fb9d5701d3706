"""What of a turn is kept as history, as pure functions (gaia 1.5)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from actors.model.message import Message, TextPart


def to_stored_history(messages: Sequence[Message], limit: int) -> list[Message]:
    """The working messages of a turn as they are kept: stored forms, the newest `limit`, pairs whole.

    `limit` 0 keeps all.
    """
    return repair_pairs(trim([stored_form(message) for message in messages], limit))


def stored_form(message: Message) -> Message:
    """One message as it is kept: no images, and a tool result without call id told by the user."""
    if message.parts:
        texts = (part.text for part in message.parts if isinstance(part, TextPart))
        message = replace(message, content="\n".join(texts), parts=())
    if message.role == "tool" and message.tool_call_id is None:
        return Message("user", f"[Result from {message.name or 'tool'}]: {message.content}")
    return message


def trim(messages: Sequence[Message], limit: int) -> list[Message]:
    """The newest `limit` messages; all with 0."""
    return list(messages[-limit:]) if limit > 0 else list(messages)


def repair_pairs(messages: Sequence[Message]) -> list[Message]:
    """Drop calls nobody answered, answers nobody asked for, and assistant messages that this leaves empty.

    An answer counts only if it stands after its call.
    """
    answered = _answered_calls(messages)
    kept: list[Message] = []
    called: set[str] = set()
    for position, message in enumerate(messages):
        if message.role == "assistant" and message.tool_calls:
            calls = tuple(call for call in message.tool_calls if (position, call.id) in answered)
            called.update(call.id for call in calls)
            if len(calls) < len(message.tool_calls):
                message = replace(message, tool_calls=calls)
            if not (calls or message.content or message.parts):
                continue
        if message.role == "tool" and message.tool_call_id not in called:
            continue
        kept.append(message)
    return kept


def _answered_calls(messages: Sequence[Message]) -> set[tuple[int, str]]:
    """Where each call stands (position of its message, id) that an answer after it belongs to."""
    answered: set[tuple[int, str]] = set()
    open_calls: dict[str, int] = {}
    for position, message in enumerate(messages):
        for call in message.tool_calls if message.role == "assistant" else ():
            open_calls[call.id] = position
        if message.role == "tool" and message.tool_call_id in open_calls:
            answered.add((open_calls[message.tool_call_id], message.tool_call_id))
    return answered
