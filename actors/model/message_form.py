"""Messages read back from their wire form, checked: the other way round of `Message.wire`. Pure."""

from __future__ import annotations

from typing import Any, cast, get_args

from actors.errors import InvalidArgument
from actors.model.message import ImagePart, Message, Part, Role, TextPart, ToolCall

_ROLES = get_args(Role)


def message_from(value: Any) -> Message:
    """The message that this object spells; keys that are not known are passed over.

    Raises InvalidArgument: it is no message. Says which part is not as it must be.
    """
    if not isinstance(value, dict):
        raise InvalidArgument(f"a message is an object, got {type(value).__name__}")
    role = value.get("role")
    if role not in _ROLES:
        raise InvalidArgument(
            f"role of a message: expected one of {', '.join(_ROLES)}; got {role!r}"
        )
    content = value.get("content")
    if not isinstance(content, str | list | None):
        raise InvalidArgument(
            f"content of a message: expected a text or parts, got {type(content).__name__}"
        )
    calls = value.get("tool_calls") or []
    if not isinstance(calls, list):
        raise InvalidArgument(f"tool_calls: expected an array, got {type(calls).__name__}")
    return Message(
        cast("Role", role),
        content if isinstance(content, str) else "",
        name=_text_or_none(value, "name"),
        tool_call_id=_text_or_none(value, "tool_call_id"),
        tool_calls=tuple(map(_call_from, calls)),
        parts=_parts_from(content) if isinstance(content, list) else (),
    )


def _text_or_none(value: dict[str, Any], key: str) -> str | None:
    found = value.get(key)
    if not isinstance(found, str | None):
        raise InvalidArgument(f"{key} of a message: expected a text, got {type(found).__name__}")
    return found


def _call_from(value: Any) -> ToolCall:
    match value:
        case {"id": str(id_), "function": {"name": str(name), "arguments": str(arguments)}}:
            return ToolCall(id_, name, arguments)
    raise InvalidArgument(
        f"a tool call has the texts id, function.name and function.arguments; got {value!r:.200}"
    )


def _parts_from(values: list[Any]) -> tuple[Part, ...]:
    parts: list[Part] = []
    for value in values:
        match value:
            case {"type": "text", "text": str(text)}:
                parts.append(TextPart(text))
            case {"type": "image_url", "image_url": {"url": str(url)}}:
                parts.append(ImagePart(url))
    return tuple(parts)
