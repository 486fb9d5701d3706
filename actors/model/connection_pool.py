"""`ConnectionPool`: the sender that `ModelHttp` uses by itself, HTTP/1.1 straight on asyncio.

A general HTTP client does for each request what model calls never need (cookies, redirects, proxies,
upgrades, request streams), and pays for it: aiohttp about three times, httpx many times what this does.

Promises: connections are kept and reused, as many as there are calls at once, and closed when idle for
15 to 30 s; a request whose reused connection turns out to be closed by the server is sent once more
on a fresh one, if no byte of an answer came; cancelling a request, or closing an answer before its
end, closes the connection. No proxy, cookie, redirect or netrc: for those pass a client to `ModelHttp`.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping

import httpx

from actors.model.addresses import AddressBook
from actors.model.connection import Connection
from actors.model.request_head import Origin, RequestHead, request_head
from actors.model.response_wire import ResponseReader
from actors.model.sender import HttpRequest

_IDLE_S = 15.0  # servers close idle connections after 5 (uvicorn, llama.cpp) to 75 s


class ConnectionPool:
    """See the module; used on one event loop.

    `tls` replaces the default context (certificates of certifi or SSL_CERT_FILE).
    """

    def __init__(self, *, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self._book = AddressBook()
        self._open: set[Connection] = set()
        self._idle: dict[Origin, list[Connection]] = {}
        self._sweep_timer: asyncio.TimerHandle | None = None
        self._all_lost: asyncio.Event | None = None

    async def send(self, request: HttpRequest) -> PooledAnswer:
        """See `Sender.send`. Raises httpx.TransportError."""
        head = request_head(request.method, request.url, tuple(request.headers.items()))
        kept = self._take(head.origin)
        if kept is not None:
            try:
                return await self._exchange(kept, head, request)
            except httpx.TransportError:
                if not kept.was_stale:
                    raise
        # Made for this request: other idle ones may be stale as well.
        fresh = await self._connect(head.origin, request.connect_s)
        return await self._exchange(fresh, head, request)

    async def aclose(self) -> None:
        """Close every connection; calls in flight fail. May be called twice."""
        self._all_lost = asyncio.Event()
        if self._sweep_timer is not None:
            self._sweep_timer.cancel()
        for connection in list(self._open):
            connection.abort(httpx.ReadError("the http client was closed"))
        self._idle.clear()
        if self._open:
            await self._all_lost.wait()

    def give_back(self, origin: Origin, connection: Connection) -> None:
        """A request is over: keep its connection for the next one if that is possible."""
        if not connection.finish() or self._all_lost is not None:
            connection.abort()
            return
        self._idle.setdefault(origin, []).append(connection)
        if self._sweep_timer is None:
            self._sweep_timer = asyncio.get_running_loop().call_later(_IDLE_S, self._sweep)

    async def _exchange(
        self, connection: Connection, head: RequestHead, request: HttpRequest
    ) -> PooledAnswer:
        try:
            connection.begin(head.with_body(request.body), request.read_s)
            reader = await connection.read_head()
        except BaseException:
            connection.abort()
            raise
        return PooledAnswer(self, connection, head, reader)

    def _take(self, origin: Origin) -> Connection | None:
        """The connection that was used last, if it can be used again."""
        idle = self._idle.get(origin)
        while idle:
            connection = idle.pop()
            if connection.usable and not self._is_old(connection):
                return connection
            connection.abort()
        return None

    def _is_old(self, connection: Connection) -> bool:
        return asyncio.get_running_loop().time() - connection.idle_since >= _IDLE_S

    def _sweep(self) -> None:
        """Close what has been idle for too long."""
        self._sweep_timer = None
        for origin, idle in list(self._idle.items()):
            for connection in idle:
                if self._is_old(connection):
                    connection.abort()
            self._idle[origin] = [each for each in idle if each.usable]
            if not self._idle[origin]:
                del self._idle[origin]
        if self._idle:
            self._sweep_timer = asyncio.get_running_loop().call_later(_IDLE_S, self._sweep)

    async def _connect(self, origin: Origin, connect_s: float) -> Connection:
        try:
            async with asyncio.timeout(connect_s):
                connection = await self._open_to(origin)
        except TimeoutError as exc:
            raise httpx.ConnectTimeout(str(exc)) from exc
        except (OSError, UnicodeError) as exc:
            raise httpx.ConnectError(str(exc) or type(exc).__name__) from exc
        if self._all_lost is not None:
            connection.abort()
            raise httpx.ConnectError("the http client was closed")
        return connection

    async def _open_to(self, origin: Origin) -> Connection:
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(
            lambda: Connection(loop, self._lost),
            sock=await self._book.connect(origin.host, origin.port),
            ssl=self._context() if origin.tls else None,
            server_hostname=origin.host if origin.tls else None,
        )
        self._open.add(connection)
        return connection

    def _lost(self, connection: Connection) -> None:
        self._open.discard(connection)
        if self._all_lost is not None and not self._open:
            self._all_lost.set()

    def _context(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = httpx.create_ssl_context()
        return self._tls


class PooledAnswer:
    """An `HttpAnswer` on a connection of a pool."""

    def __init__(
        self,
        pool: ConnectionPool,
        connection: Connection,
        head: RequestHead,
        reader: ResponseReader,
    ) -> None:
        self._pool = pool
        self._connection: Connection | None = connection
        self._head = head
        self.status = reader.status
        self.headers: Mapping[str, str] = reader.headers

    @property
    def sent_headers(self) -> Mapping[str, str]:
        """The headers of the request, those that were added included."""
        return self._head.headers

    async def read_piece(self) -> bytes:
        """See `HttpAnswer.read_piece`. A cancelled or failed read is the last one."""
        if self._connection is None:
            return b""
        try:
            return await self._connection.read_piece()
        except BaseException:
            self._connection.abort()
            raise

    async def aclose(self) -> None:
        """See `HttpAnswer.aclose`. May be called twice."""
        connection, self._connection = self._connection, None
        if connection is not None:
            self._pool.give_back(self._head.origin, connection)
