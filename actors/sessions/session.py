"""`Session`: a conversation that is kept, and its JSON form (gaia part 2, "Sessions"). Pure.

{"version": 1, "id": "session-20260101-120000", "timestamp": "2026-01-01T12:00:00Z", "messages": [...]}
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from actors.errors import InvalidArgument, SessionError
from actors.model.message import Message, TextPart
from actors.model.message_form import message_from
from actors.model.wire_json import encode_json

VERSION: Final = 1

_ID: Final = re.compile(r"[A-Za-z0-9_-]+")
_PREVIEW: Final = 100
_CUT: Final = 97


class Session(Struct, frozen=True):
    """What was said under an id, and when it was saved (UTC)."""

    id: str
    saved_at: datetime
    messages: tuple[Message, ...]


class SessionSummary(Struct, frozen=True):
    """A session in a list. `preview` is the beginning of the first thing a user said."""

    id: str
    saved_at: datetime
    messages: int
    preview: str


def require_session_id(id_: object) -> str:
    """The id. Raises InvalidArgument: it is empty, or has other characters than letters, digits, `-`, `_`."""
    if not isinstance(id_, str) or not _ID.fullmatch(id_):
        raise InvalidArgument(f"a session id is made of letters, digits, - and _; got {id_!r:.100}")
    return id_


def new_session_id(now: datetime, is_taken: Callable[[str], bool]) -> str:
    """`session-YYYYMMDD-HHMMSS`, and `-2`, `-3` ... where that is taken."""
    plain = now.strftime("session-%Y%m%d-%H%M%S")
    found, number = plain, 1
    while is_taken(found):
        number += 1
        found = f"{plain}-{number}"
    return found


def preview_of(messages: Sequence[Message]) -> str:
    """The first thing a user said: whole up to 100 characters, else 97 and `...`."""
    said = next((text_only(each).content for each in messages if each.role == "user"), "")
    return said if len(said) <= _PREVIEW else f"{said[:_CUT]}..."


def text_only(message: Message) -> Message:
    """The message with its parts reduced to their texts, a line each."""
    if not message.parts:
        return message
    texts = (part.text for part in message.parts if isinstance(part, TextPart))
    return replace(message, content="\n".join(texts), parts=())


# -- the JSON form --------------------------------------------------------------------------------


def session_to_json(session: Session) -> str:
    """One object over several lines, with a line end; the time in whole seconds."""
    form = {
        "version": VERSION,
        "id": session.id,
        "timestamp": session.saved_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "messages": [message.wire() for message in session.messages],
    }
    return msgspec.json.format(encode_json(form), indent=2).decode() + "\n"


def session_from_json(text: str | bytes) -> Session:
    """The session that this text spells. Lists of parts are reduced to their texts.

    Raises SessionError: it is no JSON, of a newer version, has no list of messages, or one of them is none.
    """
    try:
        form = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise SessionError(f"a session is JSON, and this is not: {error}") from error
    if not isinstance(form, dict) or not isinstance(form.get("messages"), list):
        raise SessionError("a session is an object with a list `messages`")
    version = form.get("version", VERSION)
    if version != VERSION:
        raise SessionError(f"the session is of version {version!r}; this greenroom reads {VERSION}")
    try:
        id_ = require_session_id(form.get("id"))
        messages = messages_from(form["messages"])
    except InvalidArgument as error:
        raise SessionError(f"the session cannot be read: {error}") from error
    return Session(id_, _time_from(form.get("timestamp")), tuple(map(text_only, messages)))


def messages_from(values: Sequence[Any]) -> list[Message]:
    """Messages from their wire form. Raises InvalidArgument: says which is none."""
    messages: list[Message] = []
    for number, value in enumerate(values):
        try:
            messages.append(message_from(value))
        except InvalidArgument as error:
            raise InvalidArgument(f"message {number}: {error}") from error
    return messages


def _time_from(value: object) -> datetime:
    try:
        time = datetime.fromisoformat(str(value))
    except ValueError:
        raise SessionError(
            f"timestamp of the session: expected a time such as 2026-01-01T12:00:00Z, got {value!r:.100}"
        ) from None
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
