"""`AiohttpTransport`: aiohttp's connections behind httpx's transport seam.

httpx is how this package speaks of HTTP (`Request`, `Response`, its errors); aiohttp is what moves the
bytes, because httpx's own pool scans every connection for every request and costs 30 times as much with
a hundred calls in flight. May also be given to an `httpx.AsyncClient(transport=AiohttpTransport())`.

Promises: one pool per transport, made at the first request and bound to that event loop; connections
are kept alive and reused, as many as there are calls at once; no proxy, cookie, redirect or netrc; a
request whose reused connection turns out to be closed by the server is sent once more on a fresh one, if
no byte of an answer came; cancelling a request, or closing a response before its end, closes the
connection; every error of aiohttp comes out as the httpx error of its kind.
"""

from __future__ import annotations

import asyncio
import ssl
from contextvars import ContextVar
from functools import lru_cache
from typing import Any
from weakref import WeakSet

import aiohttp
import httpx
from yarl import URL

_IDLE_S = 15.0  # servers close idle connections after 5 (uvicorn, llama.cpp) to 75 s
_FOREVER = {"connect": None, "read": None}
_AUTO_HEADERS = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")

# Of the request that this task sends: a request and its connector run in one task.
_reused: ContextVar[bool] = ContextVar("_reused", default=False)


class AiohttpTransport(httpx.AsyncBaseTransport):
    """See the module. `tls` replaces the default context (certificates of certifi or SSL_CERT_FILE)."""

    def __init__(self, *, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self._kept: aiohttp.ClientSession | None = None
        self._fresh: aiohttp.ClientSession | None = None
        self._closed = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send `request` and return when the headers of the answer are there; the body is a stream.

        Honours the `timeout` extension's `connect` and `read`, in seconds, None for no limit.
        Raises: httpx.TransportError.
        """
        if self._closed:
            raise httpx.ConnectError("the transport is closed")
        stream = request.stream
        body = b"".join(stream) if isinstance(stream, httpx.ByteStream) else await request.aread()
        if self._kept is None:
            self._kept = _open_session(keep=True)
        try:
            return await self._send(self._kept, request, body)
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError) as exc:
            if not _is_stale(exc):
                raise httpx_error(exc) from exc
        except (aiohttp.ClientError, OSError, ValueError) as exc:
            raise httpx_error(exc) from exc
        return await self._send_afresh(request, body)

    async def aclose(self) -> None:
        """Close every connection; calls in flight fail. May be called twice."""
        self._closed = True
        sessions, self._kept, self._fresh = (self._kept, self._fresh), None, None
        for session in sessions:
            if session is not None:
                await session.close()

    async def _send_afresh(self, request: httpx.Request, body: bytes) -> httpx.Response:
        """Send on a connection that is made for this request; other idle ones may be stale as well."""
        if self._fresh is None:
            self._fresh = _open_session(keep=False)
        try:
            return await self._send(self._fresh, request, body)
        except (aiohttp.ClientError, OSError, ValueError) as exc:
            raise httpx_error(exc) from exc

    async def _send(
        self, session: aiohttp.ClientSession, request: httpx.Request, body: bytes
    ) -> httpx.Response:
        _reused.set(False)
        limits = request.extensions.get("timeout", _FOREVER)
        response = await session.request(
            request.method,
            _yarl(str(request.url)),
            data=body or None,
            headers=[
                (name.decode("latin-1"), value.decode("latin-1"))
                for name, value in request.headers.raw
            ],
            allow_redirects=False,
            timeout=_client_timeout(limits.get("connect"), limits.get("read")),
            ssl=self._context() if request.url.scheme == "https" else True,
        )
        return httpx.Response(
            response.status,
            headers=response.raw_headers,
            stream=_Body(response),
            request=request,
        )

    def _context(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = httpx.create_ssl_context()
        return self._tls


def httpx_error(exc: Exception) -> httpx.TransportError:
    """The httpx error of the same kind as an error of aiohttp or of a socket."""
    text = str(exc) or type(exc).__name__
    match exc:
        case aiohttp.ConnectionTimeoutError():
            return httpx.ConnectTimeout(text)
        case asyncio.TimeoutError():
            return httpx.ReadTimeout(text)
        case aiohttp.ClientConnectorCertificateError():
            return httpx.ConnectError(str(exc.certificate_error))
        case aiohttp.ClientConnectorError():
            return httpx.ConnectError(str(exc.os_error))
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientPayloadError():
            return httpx.RemoteProtocolError(text)
        case aiohttp.ClientResponseError():
            return httpx.RemoteProtocolError(f"no HTTP answer: {exc.message}")
        case ValueError():  # aiohttp.InvalidURL among them; a header that cannot be sent
            return httpx.LocalProtocolError(text)
    return httpx.ReadError(text)


class _Connector(aiohttp.TCPConnector):
    """Notes whether the connection a request gets was used before.

    aiohttp's tracing could tell too, at a tenth of the cost of a whole call.
    """

    def __init__(self, *, keep: bool) -> None:
        if keep:
            super().__init__(limit=0, keepalive_timeout=_IDLE_S)
        else:
            super().__init__(limit=0, force_close=True)
        self._seen: WeakSet[object] = WeakSet()

    async def connect(self, *args: Any, **kwargs: Any) -> aiohttp.connector.Connection:
        connection = await super().connect(*args, **kwargs)
        protocol = connection.protocol
        _reused.set(protocol in self._seen)
        self._seen.add(protocol)
        return connection


class _Body(httpx.AsyncByteStream):
    """The body of a response, in the pieces in which it comes."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    def __aiter__(self) -> _Body:  # an iterator of its own: no generator to close
        return self

    async def __anext__(self) -> bytes:
        try:
            chunk = await self._response.content.readany()
        except (aiohttp.ClientError, OSError) as exc:
            raise httpx_error(exc) from exc
        if not chunk:
            raise StopAsyncIteration
        return chunk

    async def aclose(self) -> None:
        """Give the connection back if the body was read to its end, close it if not."""
        self._response.close()


def _is_stale(exc: aiohttp.ServerDisconnectedError | aiohttp.ClientOSError) -> bool:
    """Whether the connection of the request was reused and ended without a byte of an answer.

    A partly read answer hangs on `ServerDisconnectedError.message`, in the place of the usual text.
    """
    if not _reused.get():
        return False
    return not isinstance(exc, aiohttp.ServerDisconnectedError) or isinstance(exc.message, str)


def _open_session(*, keep: bool) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=_Connector(keep=keep),
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,  # httpx decodes
        skip_auto_headers=_AUTO_HEADERS,
    )


@lru_cache(maxsize=256)
def _yarl(url: str) -> URL:
    return URL(url, encoded=True)


@lru_cache(maxsize=64)
def _client_timeout(connect_s: float | None, read_s: float | None) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=None, connect=connect_s, sock_read=read_s)
