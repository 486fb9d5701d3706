"""What an HTTP status that is no success means: a JSON-RPC error, a session that is gone, or no MCP at all.

Pure functions. The statuses of MCP itself are in its Streamable HTTP chapters: 404 for a session the server
does not know (up to 2025-11-25), 400 and 404 with a JSON-RPC error (2026-07-28).
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from actors.mcp.jsonrpc import INVALID_REQUEST, METHOD_NOT_FOUND, Failure, read_messages

_SESSION_NOT_FOUND: Final = -32001  # what the TypeScript SDK answers, with 404
_OF_THE_CONNECTION: Final = (-32000, _SESSION_NOT_FOUND, INVALID_REQUEST)  # not of a method
_SESSION_WORDS: Final = re.compile(r"\bsessions?\b|\bnot initialized\b", re.IGNORECASE)
_MOVED: Final = (301, 302, 303, 307, 308)


class Refusal(Struct, frozen=True):
    """An answer with a status outside 200 to 299. `location` is where a redirect points to."""

    status: int
    body: bytes
    location: str = ""

    @property
    def failure(self) -> Failure | None:
        """The JSON-RPC error in its body; None if there is none.

        None with 401 and 403, too: only other credentials mend those.
        """
        if self.status in (401, 403) or b'"jsonrpc"' not in self.body:
            return None
        match read_messages(self.body):
            case [Failure() as failure]:
                return failure
        return None

    @property
    def says_session_is_gone(self) -> bool:
        """Whether, to a message of a session, it says that there is no such session.

        Servers say it with 404, as they should, with a code, or with 400 and in words. Words count where
        they are not the error of what was asked: a tool may have sessions of its own.
        """
        failure = self.failure
        if self.status == 404:
            return failure is None or failure.code != METHOD_NOT_FOUND
        if failure is not None and failure.code == _SESSION_NOT_FOUND:
            return 400 <= self.status < 500
        if self.status != 400 or not (failure is None or _of_the_connection(failure)):
            return False
        return _SESSION_WORDS.search(self.text) is not None

    @property
    def text(self) -> str:
        """What it says, for people."""
        return self.body.decode("utf-8", errors="replace")

    @property
    def advice(self) -> str:
        """What to do about it, as the end of a sentence; may be empty."""
        match self.status:
            case 401 | 403:
                return "; set bearer_token or headers to credentials that the server accepts"
            case 404 | 405 | 406:
                return "; is the url that of an MCP endpoint (Streamable HTTP)?"
            case status if status in _MOVED:
                return "; redirects are not followed, set the url to that address"
        return ""


def _of_the_connection(failure: Failure) -> bool:
    """Whether an error is about how it was asked, and not about what."""
    return failure.id is None or failure.code in _OF_THE_CONNECTION
