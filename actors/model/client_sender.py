"""`ClientSender`: a user's own `httpx.AsyncClient` in the place of our own sender.

TLS, proxies, authentication, headers and hooks are then the user's. Two things stay ours: the time
limits of the request (the client's default of 5 s ends most model calls), and that a connection which
the server closed while it was idle is tried once more.
"""

from __future__ import annotations

from typing import Any

import httpx

from actors.model.response_answer import ResponseAnswer
from actors.model.sender import HttpRequest

_UNANSWERED = "without sending a response"


class ClientSender:
    """Sends requests through `client`, which stays the user's: `aclose` leaves it open."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def send(self, request: HttpRequest) -> ResponseAnswer:
        """Send `request` with the client's headers under its own.

        Raises: httpx.HTTPError, and what the client's own hooks raise.
        """
        watch = _ConnectionWatch()
        try:
            return await self._send(request, watch)
        except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError) as exc:
            if not watch.reused or not _is_stale(exc):
                raise
        return await self._send(request, watch)

    async def aclose(self) -> None:
        """Nothing of ours is open."""

    async def _send(self, request: HttpRequest, watch: _ConnectionWatch) -> ResponseAnswer:
        built = self._client.build_request(
            request.method,
            request.url,
            headers=request.headers,
            content=request.body,
            timeout=httpx.Timeout(
                request.read_s, connect=request.connect_s, pool=request.connect_s
            ),
            extensions={"trace": watch},
        )
        response = await self._client.send(built, stream=True)
        return ResponseAnswer(response, response.request.headers)


class _ConnectionWatch:
    """Learns from httpcore's trace events whether a request went out on a connection used before.

    A transport without such events is not known to reuse anything.
    """

    def __init__(self) -> None:
        self._sent = False
        self._connected = False

    @property
    def reused(self) -> bool:
        return self._sent and not self._connected

    async def __call__(self, event: str, _info: dict[str, Any]) -> None:
        self._connected = self._connected or event.startswith("connection.connect")
        self._sent = self._sent or event.endswith("send_request_headers.started")


def _is_stale(exc: httpx.TransportError) -> bool:
    return not isinstance(exc, httpx.RemoteProtocolError) or _UNANSWERED in str(exc)
