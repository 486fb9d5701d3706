"""`Terms`: what both sides have agreed on, as headers of requests: the revision, and the session (legacy)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from actors.mcp.transport import SessionLost

SESSION: Final = "Mcp-Session-Id"
VERSION: Final = "MCP-Protocol-Version"


class Terms:
    """See the module. A plain value that changes; no I/O. `peer` names the server in messages."""

    def __init__(self, peer: str) -> None:
        self._peer = peer
        self._version = ""
        self._lost = False
        self.legacy = False
        self.session_id = ""

    def agreed(self, version: str, *, legacy: bool) -> None:
        """From now on requests are made by the rules of that revision; a lost session is replaced."""
        self._lost = False
        self._version = version
        self.legacy = legacy

    def headers(self, method: str = "") -> dict[str, str]:
        """For a message of that method.

        Raises:
            SessionLost: the session was lost and none was begun since; the message would be refused.
        """
        if method == "initialize":
            return {}  # it asks for a session and a revision
        if self._lost:
            raise SessionLost(f"{self._peer} has forgotten the session; another has to be begun")
        headers = {VERSION: self._version} if self._version else {}
        if self.session_id:
            headers[SESSION] = self.session_id
        return headers

    def begun(self, method: str, answer_headers: Mapping[str, str]) -> None:
        """An answer with a good status came; that to `initialize` may have the id of a session."""
        if method == "initialize":
            self.session_id = answer_headers.get(SESSION, "").strip()

    def forget(self, session_id: str) -> None:
        """The server has forgotten that session. It may be an older one than the present."""
        if session_id == self.session_id:
            self.session_id = ""
            self._lost = True
