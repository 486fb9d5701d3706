"""The seam between the dispatcher and what moves its messages: whole messages go out, whole messages come in.

Two transports implement it: `StdioTransport` (a program's standard streams) and `HttpTransport` (Streamable
HTTP). Everything here runs on one event loop. A transport lives once: after `aclose`, or after it has told
its receiver that the connection is lost, a new one is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Protocol

from msgspec import Struct

from actors.errors import McpConnectionLost
from actors.mcp.jsonrpc import Incoming, RequestId

NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class SessionLost(McpConnectionLost):
    """The server does not know the session any more and has refused the message unread (HTTP, legacy).

    The transport has forgotten the session; `initialize` may be sent anew on it. Never leaves the room.
    """


class Outgoing(Struct, frozen=True):
    """One message on its way out.

    `body` is its JSON without a line end. `id` is that of a request, None for a notification or an answer.
    `method` is that of a request or notification, empty for an answer. `headers` belong to this message
    alone, where the transport has headers.
    """

    body: bytes
    id: RequestId | None = None
    method: str = ""
    headers: Mapping[str, str] = NO_HEADERS


class Receiver(Protocol):
    """Who takes what comes in. Its methods return at once and raise nothing."""

    def received(self, message: Incoming) -> None:
        """A message came."""

    def lost(self, error: McpConnectionLost) -> None:
        """The connection has ended by itself; `error` says how. Told once, and nothing is received after it."""


class Transport(Protocol):
    """One connection to a server."""

    @property
    def closing_cancels(self) -> bool:
        """Whether giving `send` up tells the server that nobody waits for the answer any more."""

    async def open(self, receiver: Receiver) -> None:
        """Make the connection.

        Cancelling it, and every error, leaves nothing behind.

        Raises:
            McpConnectionLost: it cannot be made; says why and what to do. `sent` is false.
        """

    async def send(self, message: Outgoing) -> None:
        """Send a message; for a request at the latest then return when its answer was received.

        A transport with one stream for everything (stdio) returns when the message was handed to the
        stream. One with a stream for each request (HTTP) returns when that stream has given its answer.

        Raises:
            SessionLost: another session has to be begun.
            McpConnectionLost: the message could not be sent (`sent` false), or its stream ended without
                an answer (`sent` true). Other messages are not concerned.
            McpProtocolError: the answer is not MCP; `status` is the HTTP status.
        """

    def agreed(self, version: str, *, legacy: bool) -> None:
        """Both sides have agreed on a protocol revision; later messages are sent by its rules."""

    def last_words(self) -> str:
        """What the server said beside the protocol (its log), in the form of the end of a sentence, or ''."""

    def condemn(self) -> None:
        """The server was found to hang: `aclose` need not be patient with it."""

    async def aclose(self) -> None:
        """End the connection, and the server if it is this side's; bounded in time, may be called twice.

        Cancelling it does not break it off. Nothing is received after it has begun.
        """


class TransportMaker(Protocol):
    """Makes a fresh transport for each try at a connection."""

    def __call__(self) -> Transport: ...


Params = Mapping[str, Any]
"""The parameters of a request or notification."""
