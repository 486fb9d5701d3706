"""`ModelHttp`: HTTP as model providers need it: post a body, get a status, headers and bytes.

One per event loop, shared by every provider on it, used and closed on that loop. By default it sends
through an `AiohttpSender`; with a user's `httpx.AsyncClient` through that.

Promises: only errors of `actors.errors` come out; every wait has a limit; a body is never kept beyond
`limit_bytes`; cancelling a call closes its connection; connections are kept alive between calls.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import lru_cache

import httpx
from msgspec import Struct

from actors.errors import ModelUnavailable
from actors.model.client_sender import ClientSender
from actors.model.http_errors import refused, unreachable
from actors.model.http_reply import ERROR_BODY_BYTES, HttpReply, HttpStream
from actors.model.redaction import shown_url
from actors.model.response_answer import decoded
from actors.model.sender import HttpRequest, Sender

LIMIT_BYTES = 32 * 1024 * 1024
_NO_HEADERS: Mapping[str, str] = {}


class Timeouts(Struct, frozen=True):
    """How long to wait, in seconds.

    `connect_s` bounds the making of a connection, `read_s` each silence of the server: before the
    first byte of an answer and between two. The defaults are the seed page's (gaia 9.2). How long an
    answer takes in all is the caller's to bound: cancel the call.
    """

    connect_s: float = 30.0
    read_s: float = 120.0


class ModelHttp:
    """See the module. With a `client` of the user's, `aclose` leaves that client open."""

    def __init__(
        self,
        client: httpx.AsyncClient | None = None,
        *,
        timeouts: Timeouts | None = None,
        limit_bytes: int = LIMIT_BYTES,
    ) -> None:
        self._sender: Sender = _own_sender() if client is None else ClientSender(client)
        self._timeouts = timeouts or Timeouts()
        self._limit_bytes = limit_bytes
        self._closed = False

    @property
    def closed(self) -> bool:
        """Whether it was closed, so that every call would fail."""
        return self._closed

    async def post(
        self,
        url: str,
        body: bytes,
        headers: Mapping[str, str] = _NO_HEADERS,
        *,
        timeouts: Timeouts | None = None,
    ) -> HttpReply:
        """Send `body`, by default as JSON, and read the whole answer.

        Raises:
            ModelUnavailable: nothing answers there, or the answer broke off.
            ModelTimeout: the server was silent for longer than the limits allow.
            ModelHTTPError: the status is outside 200 to 299.
            ModelReplyError: the body is larger than the limit.
        """
        return await self._whole("POST", url, body, headers, timeouts)

    async def get(
        self,
        url: str,
        headers: Mapping[str, str] = _NO_HEADERS,
        *,
        timeouts: Timeouts | None = None,
    ) -> HttpReply:
        """Ask for `url` and read the whole answer. Raises as `post`."""
        return await self._whole("GET", url, b"", headers, timeouts)

    @asynccontextmanager
    async def stream(
        self,
        url: str,
        body: bytes,
        headers: Mapping[str, str] = _NO_HEADERS,
        *,
        timeouts: Timeouts | None = None,
    ) -> AsyncIterator[HttpStream]:
        """Send `body`, and give the answer while it comes. Raises as `post`, also while iterating."""
        stream = await self._open("POST", url, body, headers, timeouts)
        try:
            yield stream
        finally:
            await stream.aclose()

    async def aclose(self) -> None:
        """Close the connections; calls in flight and later ones raise ModelUnavailable."""
        self._closed = True
        await self._sender.aclose()

    async def _whole(
        self,
        method: str,
        url: str,
        body: bytes,
        headers: Mapping[str, str],
        timeouts: Timeouts | None,
    ) -> HttpReply:
        stream = await self._open(method, url, body, headers, timeouts)
        try:
            return await stream.read()
        finally:
            await stream.aclose()

    async def _open(
        self,
        method: str,
        url: str,
        body: bytes,
        headers: Mapping[str, str],
        timeouts: Timeouts | None,
    ) -> HttpStream:
        check_address(url)
        limits = timeouts or self._timeouts
        request = HttpRequest(method, url, headers, body, limits.connect_s, limits.read_s)
        if self._closed:
            raise ModelUnavailable(f"{method} {shown_url(url)}: the http client is closed")
        try:
            answer = decoded(await self._sender.send(request))
        except httpx.HTTPError as exc:
            raise unreachable(exc, request) from exc
        stream = HttpStream(request, answer, self._limit_bytes)
        if 200 <= answer.status < 300:
            return stream
        try:
            raise refused(request, answer, await stream.read_some(ERROR_BODY_BYTES))
        finally:
            await stream.aclose()


@lru_cache(maxsize=256)
def check_address(url: str) -> None:
    """Raises ModelUnavailable for what is no http address: nothing can answer there."""
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as exc:
        raise ModelUnavailable(f"expected an http address, got {shown_url(url)!r}: {exc}") from exc
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise ModelUnavailable(
            f"expected an address that begins with http:// or https://, got {shown_url(url)!r}"
        )


def _own_sender() -> Sender:
    """aiohttp's, imported with the first of them: that takes longer than all the rest of greenroom."""
    from actors.model.aiohttp_sender import AiohttpSender  # noqa: PLC0415

    return AiohttpSender()
