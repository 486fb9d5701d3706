"""`Sessions`: the conversations of one agent that a store keeps, by id.

    sessions = Sessions(store, "clerk")
    sessions.save("monday", agent.history())
    for each in sessions.list():
        print(each.id, each.preview)
    agent.set_history(sessions.load("monday").messages)

The store has `STANDARD_TABLES`. Methods block and are for threads; on a loop, call them in one. An agent that is
given a store keeps its session by itself, see `Agent.spawn`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from actors.errors import SessionError
from actors.model.message import Message
from actors.sessions.session import (
    Session,
    SessionSummary,
    new_session_id,
    require_session_id,
)
from actors.sessions.session_rows import (
    get_session,
    has_session,
    list_sessions,
    put_session,
    remove_session,
)
from actors.store_seam import RowStore


class Sessions:
    """See the module. All raise InvalidArgument for an id that is none, and DatabaseError from the store."""

    def __init__(self, store: RowStore, agent: str) -> None:
        self._store = store
        self._agent = agent

    def save(self, id_: str, messages: Sequence[Message]) -> Session:
        """Keep these messages, in the place of what was kept under the id."""
        return self.put(Session(require_session_id(id_), datetime.now(UTC), tuple(messages)))

    def put(self, session: Session) -> Session:
        """Keep a session as it is, one read from JSON say; in the place of one of the same id."""
        require_session_id(session.id)
        self._store.write(lambda rows: put_session(rows, self._agent, session))
        return session

    def load(self, id_: str) -> Session:
        """The session of that id. Raises SessionError: there is none."""
        require_session_id(id_)
        found = self._store.read(lambda rows: get_session(rows, self._agent, id_))
        if found is None:
            raise SessionError(f"agent {self._agent!r} has no session {id_!r}")
        return found

    def exists(self, id_: str) -> bool:
        """Whether there is one of that id."""
        require_session_id(id_)
        return self._store.read(lambda rows: has_session(rows, self._agent, id_))

    def remove(self, id_: str) -> bool:
        """Forget a session; whether there was one."""
        require_session_id(id_)
        return self._store.write(lambda rows: remove_session(rows, self._agent, id_))

    def list(self) -> list[SessionSummary]:
        """All there are, the one saved last first."""
        return self._store.read(lambda rows: list_sessions(rows, self._agent))

    def new_id(self) -> str:
        """An id that is not taken: `session-YYYYMMDD-HHMMSS` in UTC, with `-2` and so on in the same second."""
        return self._store.read(
            lambda rows: new_session_id(
                datetime.now(UTC), lambda id_: has_session(rows, self._agent, id_)
            )
        )
