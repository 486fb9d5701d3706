"""Sessions as rows of the table `sessions`: work for a store, each function one piece of it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from actors.model.message import Message
from actors.model.wire_json import encodable_text, encode_json
from actors.sessions.session import Session, SessionSummary, messages_from, preview_of
from actors.store_seam import Rows, time_of

_PUT = """
INSERT INTO sessions (agent, id, saved_at, count, preview, messages) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (agent, id) DO UPDATE SET
    saved_at = excluded.saved_at, count = excluded.count, preview = excluded.preview,
    messages = excluded.messages
"""


def put_session(rows: Rows, agent: str, session: Session) -> None:
    """Keep it, in the place of one of the same id."""
    messages = session.messages
    rows.run(
        _PUT,
        *(agent, session.id, session.saved_at.timestamp(), len(messages)),
        encodable_text(preview_of(messages)),
        messages_to_json(messages),
    )


def get_session(rows: Rows, agent: str, id_: str) -> Session | None:
    """The session of that id, if there is one."""
    found = rows.query(
        "SELECT saved_at, messages FROM sessions WHERE agent = ? AND id = ?", agent, id_
    )
    for saved_at, messages in found:
        return Session(id_, time_of(saved_at), tuple(messages_from(msgspec.json.decode(messages))))
    return None


def has_session(rows: Rows, agent: str, id_: str) -> bool:
    """Whether there is one."""
    return bool(rows.query("SELECT 1 FROM sessions WHERE agent = ? AND id = ?", agent, id_))


def remove_session(rows: Rows, agent: str, id_: str) -> bool:
    """Remove it; whether there was one."""
    rows.run("DELETE FROM sessions WHERE agent = ? AND id = ?", agent, id_)
    return rows.changes > 0


def list_sessions(rows: Rows, agent: str) -> list[SessionSummary]:
    """All of an agent, those saved last first."""
    found = rows.query(
        "SELECT id, saved_at, count, preview FROM sessions WHERE agent = ? "
        "ORDER BY saved_at DESC, id DESC",
        agent,
    )
    return [SessionSummary(id_, time_of(at), count, preview) for id_, at, count, preview in found]


def messages_to_json(messages: Sequence[Message]) -> str:
    """A JSON array of the messages in wire form."""
    return encode_json([message.wire() for message in messages]).decode()
