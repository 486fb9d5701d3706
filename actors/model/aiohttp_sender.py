"""`AiohttpSender`: aiohttp's connections as the sender of model calls, the default one.

httpx is how this package speaks of HTTP to its users (a client of theirs, the names of errors); aiohttp
moves the bytes, because httpx's own pool scans every connection for every request and costs 30 times as
much with a hundred calls in flight. Its session is used directly, without requests and responses of httpx
in between, which is worth a quarter of a call.

Promises: one pool, made at the first request and bound to that event loop; connections are kept alive and
reused, as many as there are calls at once; no proxy, cookie, redirect or netrc; a request whose reused
connection turns out to be closed by the server is sent once more on a fresh one, if no byte of an answer
came; cancelling a request, or closing an answer before its end, closes the connection; every error of
aiohttp comes out as the httpx error of its kind.
"""

from __future__ import annotations

import asyncio
import io
import ssl
from collections.abc import Mapping
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

import aiohttp
import httpx
from aiohttp.client_proto import ResponseHandler
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from actors.model.sender import HttpRequest

_IDLE_S = 15.0  # servers close idle connections after 5 (uvicorn, llama.cpp) to 75 s
_AT_ONCE_BYTES = 1024 * 1024
_DEFAULTS = {
    "Accept": "*/*",
    "Accept-Encoding": "identity",
    "Content-Type": "application/json",
    "User-Agent": "greenroom",
}

# Of the request that this task sends: a request and its connector run in one task.
_reused: ContextVar[bool] = ContextVar("_reused", default=False)


class AiohttpAnswer:
    """See `HttpAnswer`."""

    __slots__ = ("_response", "headers", "sent_headers", "status")

    def __init__(self, response: aiohttp.ClientResponse, sent_headers: Mapping[str, str]) -> None:
        self._response = response
        self.status = response.status
        self.headers: Mapping[str, str] = response.headers
        self.sent_headers = sent_headers

    async def read_piece(self) -> bytes:
        """See `HttpAnswer.read_piece`."""
        try:
            return await self._response.content.readany()
        except (aiohttp.ClientError, OSError) as error:
            raise httpx_error(error) from error

    async def aclose(self) -> None:
        """See `HttpAnswer.aclose`."""
        self._response.close()


class AiohttpSender:
    """See the module. `tls` replaces the default context (certificates of certifi or SSL_CERT_FILE)."""

    def __init__(self, *, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self._kept: aiohttp.ClientSession | None = None
        self._fresh: aiohttp.ClientSession | None = None
        self._closed = False

    async def send(self, request: HttpRequest) -> AiohttpAnswer:
        """See `Sender.send`."""
        if self._closed:
            raise httpx.ConnectError("the sender is closed")
        if self._kept is None:
            self._kept = _open_session(keep=True)
        try:
            return await self._send(self._kept, request)
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError) as error:
            if not _is_stale(error):
                raise httpx_error(error) from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise httpx_error(error) from error
        return await self._send_afresh(request)

    async def aclose(self) -> None:
        """Close every connection; calls in flight fail. May be called twice."""
        self._closed = True
        sessions, self._kept, self._fresh = (self._kept, self._fresh), None, None
        for session in sessions:
            if session is not None:
                await session.close()

    async def _send_afresh(self, request: HttpRequest) -> AiohttpAnswer:
        """Send on a connection that is made for this request; other idle ones may be stale as well."""
        if self._fresh is None:
            self._fresh = _open_session(keep=False)
        try:
            return await self._send(self._fresh, request)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise httpx_error(error) from error

    async def _send(self, session: aiohttp.ClientSession, request: HttpRequest) -> AiohttpAnswer:
        _reused.set(True)
        response = await session.request(
            request.method,
            _yarl(request.url),
            data=_in_pieces(request.body),
            headers=_complete(tuple(request.headers.items())),
            allow_redirects=False,
            timeout=_client_timeout(request.connect_s, request.read_s),
            ssl=self._context() if request.url.startswith("https") else True,
        )
        return AiohttpAnswer(response, request.headers)

    def _context(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = httpx.create_ssl_context()
        return self._tls


def httpx_error(error: Exception) -> httpx.TransportError:
    """The httpx error of the same kind as an error of aiohttp or of a socket."""
    text = str(error) or type(error).__name__
    match error:
        case aiohttp.ConnectionTimeoutError():
            return httpx.ConnectTimeout(text)
        case asyncio.TimeoutError():
            return httpx.ReadTimeout(text)
        case aiohttp.ClientConnectorCertificateError():
            return httpx.ConnectError(str(error.certificate_error))
        case aiohttp.ClientConnectorError():
            return httpx.ConnectError(str(error.os_error))
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientPayloadError():
            return httpx.RemoteProtocolError(text)
        case aiohttp.ClientResponseError():
            return httpx.RemoteProtocolError(f"no HTTP answer: {error.message}")
        case ValueError():  # aiohttp.InvalidURL among them; a header that cannot be sent
            return httpx.LocalProtocolError(text)
    return httpx.ReadError(text)


class _Connector(aiohttp.TCPConnector):
    """Notes when a request gets a connection that was made for it.

    aiohttp's tracing could tell too, at a tenth of the cost of a whole call.
    """

    def __init__(self, *, keep: bool) -> None:
        if keep:
            super().__init__(limit=0, keepalive_timeout=_IDLE_S)
        else:
            super().__init__(limit=0, force_close=True)

    async def _create_connection(self, *args: Any, **kwargs: Any) -> ResponseHandler:
        _reused.set(False)
        return await super()._create_connection(*args, **kwargs)


def _is_stale(error: aiohttp.ServerDisconnectedError | aiohttp.ClientOSError) -> bool:
    """Whether the connection of the request was reused and ended without a byte of an answer.

    A partly read answer hangs on `ServerDisconnectedError.message`, in the place of the usual text.
    """
    if not _reused.get():
        return False
    return not isinstance(error, aiohttp.ServerDisconnectedError) or isinstance(error.message, str)


def _open_session(*, keep: bool) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=_Connector(keep=keep),
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,  # `response_answer.decoded` does it, within the size limit
    )


@lru_cache(maxsize=256)
def _complete(headers: tuple[tuple[str, str], ...]) -> CIMultiDictProxy[str]:
    """The headers, and each that aiohttp would add; to tell it to leave one out would cost more."""
    complete = CIMultiDict(_DEFAULTS)
    complete.update(headers)
    return CIMultiDictProxy(complete)


def _in_pieces(body: bytes) -> bytes | io.BytesIO | None:
    """What aiohttp sends at once, or, from a megabyte on, piece by piece; bytes of that size it warns of."""
    if len(body) > _AT_ONCE_BYTES:
        return io.BytesIO(body)
    return body or None


@lru_cache(maxsize=256)
def _yarl(url: str) -> URL:
    return URL(url, encoded=True)


@lru_cache(maxsize=64)
def _client_timeout(connect_s: float, read_s: float) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=None, connect=connect_s, sock_read=read_s)
