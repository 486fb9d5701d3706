"""`AiohttpSender`: aiohttp's connections as the sender of model calls, the default one.

httpx is how this package speaks of HTTP to its users (a client of theirs, the names of errors); aiohttp
moves the bytes, because httpx's own pool scans every connection for every request and costs 30 times as
much with a hundred calls in flight. What is used of it are its pool of connections, its parser and its
stream of the body. Its session, requests and responses are left out: they do for each call what a model
call never needs (cookies, redirects, uploads, hooks), and cost as much again as all the rest. The names
used of these parts are public but not all documented; they are the same from aiohttp 3.11 to 3.14.

Promises: one pool, made at the first request and bound to that event loop; connections are kept alive and
reused, as many as there are calls at once; no proxy, cookie, redirect or netrc; a request whose reused
connection turns out to be closed by the server is sent once more on a fresh one, if no byte of an answer
came; cancelling a request, or closing an answer before its end, closes the connection; every error of
aiohttp comes out as the httpx error of its kind.
"""

from __future__ import annotations

import asyncio
import ssl
from functools import lru_cache
from weakref import WeakSet

import aiohttp
import httpx
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.http import StreamWriter
from aiohttp.http_exceptions import HttpProcessingError
from yarl import URL

from actors.model.aiohttp_answer import AiohttpAnswer, httpx_error
from actors.model.request_head import RequestHead, request_head
from actors.model.sender import HttpRequest

_IDLE_S = 15.0  # servers close idle connections after 5 (uvicorn, llama.cpp) to 75 s
_INTERIM = (100, 102, 103)
_ERRORS = (aiohttp.ClientError, HttpProcessingError, OSError, ValueError)


class AiohttpSender:
    """See the module. `tls` replaces the default context (certificates of certifi or SSL_CERT_FILE)."""

    def __init__(self, *, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self._kept: aiohttp.TCPConnector | None = None
        self._fresh: aiohttp.TCPConnector | None = None
        self._places: dict[str, aiohttp.ClientRequest] = {}
        self._used: WeakSet[ResponseHandler] = WeakSet()
        self._closed = False

    async def send(self, request: HttpRequest) -> AiohttpAnswer:
        """See `Sender.send`."""
        head = request_head(request.method, request.url, tuple(request.headers.items()))
        if self._kept is None:
            self._kept = aiohttp.TCPConnector(limit=0, keepalive_timeout=_IDLE_S)
        connection = await self._connect(self._kept, head, request)
        reused = connection.protocol in self._used
        try:
            return await self._exchange(connection, head, request)
        except _ERRORS as error:
            if self._closed or not reused or not _is_unanswered(error):
                raise httpx_error(error) from error
        # Made for this request alone: other idle ones may be stale as well.
        if self._fresh is None:
            self._fresh = aiohttp.TCPConnector(limit=0, force_close=True)
        connection = await self._connect(self._fresh, head, request)
        try:
            return await self._exchange(connection, head, request)
        except _ERRORS as error:
            raise httpx_error(error) from error

    async def aclose(self) -> None:
        """Close every connection; calls in flight fail. May be called twice."""
        self._closed = True
        for connector in (self._kept, self._fresh):
            if connector is not None:
                await connector.close()

    async def _connect(
        self, connector: aiohttp.TCPConnector, head: RequestHead, request: HttpRequest
    ) -> Connection:
        if self._closed:
            raise httpx.ConnectError("the sender is closed")
        limits = _client_timeout(request.connect_s)
        try:
            return await connector.connect(self._place(head.origin), [], limits)
        except TimeoutError as error:
            raise httpx.ConnectTimeout(str(error)) from error
        except _ERRORS as error:
            raise httpx_error(error) from error

    def _place(self, origin: str) -> aiohttp.ClientRequest:
        """What aiohttp's pool knows a place by: a request to it, which is never sent."""
        if origin not in self._places:
            tls = self._context() if origin.startswith("https:") else True
            loop = asyncio.get_running_loop()
            self._places[origin] = aiohttp.ClientRequest("GET", URL(origin), loop=loop, ssl=tls)
        return self._places[origin]

    async def _exchange(
        self, connection: Connection, head: RequestHead, request: HttpRequest
    ) -> AiohttpAnswer:
        """Send the request and wait for the head of its answer."""
        try:
            protocol = await _write(connection, head.with_body(request.body), request.read_s)
            self._used.add(protocol)
            protocol.start_timeout()
            message, body = await protocol.read()
            while message.code in _INTERIM:
                message, body = await protocol.read()
        except BaseException:
            connection.close()
            raise
        return AiohttpAnswer(connection, message, body, head.headers)

    def _context(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = httpx.create_ssl_context()
        return self._tls


async def _write(connection: Connection, wire: bytes, limit_s: float) -> ResponseHandler:
    """Send a whole request, ready to read an answer of which no silence lasts longer than the limit."""
    protocol, transport = connection.protocol, connection.transport
    if protocol is None or transport is None:
        raise aiohttp.ServerDisconnectedError
    protocol.set_response_params(read_until_eof=True, auto_decompress=False, read_timeout=limit_s)
    transport.write(wire)
    if transport.get_write_buffer_size():
        await _drain(protocol, transport, limit_s)
    return protocol


async def _drain(protocol: ResponseHandler, transport: asyncio.Transport, limit_s: float) -> None:
    """Wait until the server has taken a long request; `limit_s` is for each time it takes nothing."""
    # One task to the end, which comes with that of the connection: a wait that is cancelled leaves behind
    # in aiohttp a future whose error nobody reads.
    drained = asyncio.ensure_future(StreamWriter(protocol, asyncio.get_running_loop()).drain())
    drained.add_done_callback(_read_error)
    unsent = transport.get_write_buffer_size()
    while not (await asyncio.wait([drained], timeout=limit_s))[0]:
        left = transport.get_write_buffer_size()
        if left >= unsent:
            raise httpx.WriteTimeout(f"nothing was taken for {limit_s} s")
        unsent = left
    await drained


def _read_error(task: asyncio.Future[None]) -> None:
    if not task.cancelled():
        task.exception()


def _is_unanswered(error: Exception) -> bool:
    """Whether a connection ended without a byte of an answer.

    A partly read answer hangs on `ServerDisconnectedError.message`, in the place of the usual text.
    """
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return isinstance(error.message, str)
    broken = isinstance(error, aiohttp.ClientConnectionError | ConnectionError)
    return broken and not isinstance(error, TimeoutError)


@lru_cache(maxsize=64)
def _client_timeout(connect_s: float) -> aiohttp.ClientTimeout:
    return aiohttp.ClientTimeout(total=None, connect=connect_s)
