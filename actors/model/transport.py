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
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import aiohttp
import httpx
from yarl import URL

_IDLE_S = 15.0  # servers close idle connections after 5 (uvicorn, llama.cpp) to 75 s
_FOREVER = {"connect": None, "read": None}
_AUTO_HEADERS = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")


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
        body = await request.aread()
        if self._kept is None:
            self._kept = _open_session(keep=True)
        attempt = _Attempt()
        try:
            return await self._send(self._kept, request, body, attempt)
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError) as exc:
            if attempt.connected or not _is_stale(exc):
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
            return await self._send(self._fresh, request, body, _Attempt())
        except (aiohttp.ClientError, OSError, ValueError) as exc:
            raise httpx_error(exc) from exc

    async def _send(
        self, session: aiohttp.ClientSession, request: httpx.Request, body: bytes, attempt: _Attempt
    ) -> httpx.Response:
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
            trace_request_ctx=attempt,
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
        case aiohttp.ClientConnectorError():
            return httpx.ConnectError(text)
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientPayloadError():
            return httpx.RemoteProtocolError(text)
        case aiohttp.ClientResponseError():
            return httpx.RemoteProtocolError(f"no HTTP answer: {exc.message}")
        case ValueError():  # aiohttp.InvalidURL among them; a header that cannot be sent
            return httpx.LocalProtocolError(text)
    return httpx.ReadError(text)


class _Attempt:
    """Whether a request made its own connection; aiohttp's tracing fills it in."""

    __slots__ = ("connected",)

    def __init__(self) -> None:
        self.connected = False


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
    """Whether a reused connection ended without a byte of an answer.

    A partly read answer hangs on `ServerDisconnectedError.message`, in the place of the usual text.
    """
    if isinstance(exc, aiohttp.ServerDisconnectedError):
        return isinstance(exc.message, str)
    return not isinstance(exc, aiohttp.ClientConnectorError)


def _open_session(*, keep: bool) -> aiohttp.ClientSession:
    connector = (
        aiohttp.TCPConnector(limit=0, keepalive_timeout=_IDLE_S)
        if keep
        else aiohttp.TCPConnector(limit=0, force_close=True)
    )
    trace = aiohttp.TraceConfig()
    trace.on_connection_create_start.append(_note_connection)
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,  # httpx decodes
        skip_auto_headers=_AUTO_HEADERS,
        trace_configs=[trace],
    )


async def _note_connection(
    _session: aiohttp.ClientSession, context: SimpleNamespace, _params: Any
) -> None:
    context.trace_request_ctx.connected = True


@lru_cache(maxsize=256)
def _yarl(url: str) -> URL:
    return URL(url, encoded=True)


@lru_cache(maxsize=64)
def _client_timeout(connect_s: float | None, read_s: float | None) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=None, connect=connect_s, sock_read=read_s)
