"""The seam between `ModelHttp` and what moves the bytes: a request goes in, an answer comes out.

Two senders implement it: `AiohttpSender` (the default) and `ClientSender` (a
user's `httpx.AsyncClient`). Both raise httpx's errors, the words this package has for what can go wrong
on the way; `ModelHttp` turns them into errors of ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct


class HttpRequest(Struct, frozen=True):
    """One request. `connect_s` bounds the making of a connection, `read_s` each silence of the server."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes = b""
    connect_s: float = 30.0
    read_s: float = 120.0


class HttpAnswer(Protocol):
    """An answer whose head has come and whose body is coming. Must be closed."""

    @property
    def status(self) -> int:
        """The status code."""

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers; a name is looked up in any case."""

    @property
    def sent_headers(self) -> Mapping[str, str]:
        """The headers of the request as they were sent, secrets included."""

    async def read_piece(self) -> bytes:
        """The next piece of the body, of any size; empty at its end. Raises httpx.HTTPError."""

    async def aclose(self) -> None:
        """End it: its connection is kept if the body has come whole, closed if not."""


class Sender(Protocol):
    """Sends requests; used and closed on one event loop."""

    async def send(self, request: HttpRequest) -> HttpAnswer:
        """Send a request and wait for the head of its answer; cancelling closes the connection.

        Raises httpx.HTTPError.
        """

    async def aclose(self) -> None:
        """Close what the sender owns; later requests, and those in flight on it, fail."""
