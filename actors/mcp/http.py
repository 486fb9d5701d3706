"""`HttpTransport`: the messages of a server at an address, over Streamable HTTP, in both eras.

Each message is a POST of its own; a request is answered by JSON or by a stream of events, on which the
server may say more before. Up to revision 2025-11-25 (legacy) there may be a session, a stream may be taken
up again where it broke, and the server may have a stream of its own; since 2026-07-28 (modern) none of it.
The transport before that, HTTP+SSE (2024-11-05), is not spoken.

Headers of a request, later ones replacing earlier ones: those of the configuration, `Accept` and
`Content-Type`, the revision and the session, those of the message. A message brings only `Mcp-...` headers,
so that nothing but the configuration says who we are.

No limit of time is set here but for connecting (`McpTimeouts.handshake`) and for messages that have no
answer (`call`): a request waits until it is answered or cancelled, and cancelling closes its stream.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Final

import aiohttp
import structlog
from multidict import CIMultiDict

from actors.errors import InvalidArgument, McpConnectionLost, McpError, McpProtocolError
from actors.mcp.config import HttpServer, McpTimeouts
from actors.mcp.http_client import BROKEN, HttpClient
from actors.mcp.http_endpoint import Endpoint
from actors.mcp.http_inbox import Inbox, Waiting
from actors.mcp.http_listener import listen
from actors.mcp.http_refusal import Refusal
from actors.mcp.http_reply import JSON, ReplyReader
from actors.mcp.http_stream import EVENTS, Cursor, is_event_stream
from actors.mcp.http_terms import SESSION, Terms
from actors.mcp.jsonrpc import Failure
from actors.mcp.transport import Outgoing, Receiver, SessionLost
from actors.model.redaction import shown_url
from actors.to_the_end import to_the_end

_log = structlog.get_logger(__name__)

_OF_MESSAGES: Final = "mcp-"
_LET_END_S: Final = 1.0
_DEFAULTS: Final = {"User-Agent": "greenroom", "Accept-Encoding": "identity"}
_NO_MESSAGE: Final = Outgoing(b"")


class HttpTransport:
    """Implements `Transport`; see there. `name` is the server's, for messages and the log."""

    def __init__(self, name: str, server: HttpServer, timeouts: McpTimeouts) -> None:
        self._peer = f"server {name!r}"
        self._server = server
        self._timeouts = timeouts
        self._terms = Terms(self._peer)
        self._tasks: set[asyncio.Task[None]] = set()
        self._listening: asyncio.Task[None] | None = None
        self._ending = asyncio.Lock()
        self._opened = False
        self._closed = False
        self._condemned = False
        self._endpoint: Endpoint
        self._client: HttpClient
        self._inbox: Inbox
        self._replies: ReplyReader

    @property
    def closing_cancels(self) -> bool:
        """In the modern era; a legacy server has to be told by a notification."""
        return not self._terms.legacy

    async def open(self, receiver: Receiver) -> None:
        """Look at the configuration; nothing is sent yet.

        Raises:
            McpConnectionLost: the address, a header or the credentials cannot be used; says what to do.
            InvalidArgument: the transport was opened or closed before.
        """
        if self._opened or self._closed:
            raise InvalidArgument("an HttpTransport lives once; make a new one to connect again")
        self._endpoint = Endpoint(self._peer, self._server)
        if self._endpoint.left_out:
            _log.warning(
                "configured headers that are the protocol's own are not sent",
                peer=self._peer,
                headers=self._endpoint.left_out,
            )
        self._client = HttpClient(self._peer, self._endpoint, self._timeouts.handshake)
        self._inbox = Inbox(receiver)
        self._replies = ReplyReader(
            self._peer, self._endpoint, self._client, self._inbox, self._terms, self._open_stream
        )
        self._opened = True

    def agreed(self, version: str, *, legacy: bool) -> None:
        """See `Transport.agreed`. A legacy server is listened to when it has taken `initialized`."""
        self._terms.agreed(version, legacy=legacy)

    def last_words(self) -> str:
        """Nothing: over HTTP there is only the protocol."""
        return ""

    # -- send -------------------------------------------------------------------------------------

    async def send(self, message: Outgoing) -> None:
        """See `Transport.send`. A request's stream is closed when it was answered, or cancelled.

        Raises:
            SessionLost: the server has forgotten the session; also for all that is sent until another one
                is begun with `initialize`.
            McpConnectionLost: there is no connection, or it broke before the answer had come.
            McpProtocolError: the server answered with a status that says no, or with no MCP; also for
                redirects, which are not followed. With a JSON-RPC error in its body such a status is an
                answer to the request instead, but for 401 and 403.
            InvalidArgument: the message has a header that is not `Mcp-...`.
        """
        self._require_open()
        if message.id is None:
            await self._tell(message)
            return
        waiting = self._inbox.expect(message.id)
        try:
            await self._ask(message, waiting)
            if not waiting.answered:
                self._require_open(sent=True)
        finally:
            self._inbox.forget(waiting)

    def _require_open(self, *, sent: bool = False) -> None:
        if self._closed or not self._opened:
            raise McpConnectionLost(f"the connection to {self._peer} is closed", sent=sent)

    async def _ask(self, message: Outgoing, waiting: Waiting) -> None:
        reply = await self._post(message)
        if isinstance(reply, Failure):
            self._inbox.take(reply, waiting)
            return
        await self._replies.read(reply, waiting)
        response, waiting.response = waiting.response, None
        if response is not None:
            self._let_end(response)

    async def _tell(self, message: Outgoing) -> None:
        """Send a notification or an answer: the server says only whether it takes it."""
        limit = self._timeouts.call
        try:
            async with asyncio.timeout(limit):
                reply = await self._post(message)
        except TimeoutError as error:
            what = message.method or "an answer"
            raise McpConnectionLost(
                f"{self._peer} did not take {what} within {limit:g} s", sent=True
            ) from error
        if not isinstance(reply, Failure):
            self._let_end(reply)
        initialized = message.method == "notifications/initialized"
        if initialized and self._terms.legacy and not self._closed:
            self._listen()

    async def _post(self, message: Outgoing) -> aiohttp.ClientResponse | Failure:
        """The answer, to be closed, if its status is a success; or the JSON-RPC error that it holds."""
        headers = self._headers(f"{JSON}, {EVENTS}", message)
        headers["Content-Type"] = JSON
        session_id = headers.get(SESSION, "")
        response = await self._client.send("POST", headers, message.body)
        if 200 <= response.status < 300:
            self._terms.begun(message.method, response.headers)
            return response
        try:
            body = await self._client.read_start(response)
        finally:
            response.close()
        location = response.headers.get("Location", "")
        return self._refused(message, Refusal(response.status, body, location), session_id)

    def _refused(self, message: Outgoing, refusal: Refusal, session_id: str) -> Failure:
        said = self._endpoint.quoted(refusal.text, session_id) or "nothing"
        if session_id and refusal.says_session_is_gone:
            self._terms.forget(session_id)
            raise SessionLost(f"{self._peer} has forgotten the session; it said: {said}")
        failure = refusal.failure
        if failure is not None and message.id is not None:
            return Failure(message.id, failure.code, failure.message, failure.data)
        if refusal.location:
            said = f"moved to {self._endpoint.quoted(shown_url(refusal.location))}"
        raise McpProtocolError(
            f"{self._peer}: POST {self._endpoint.shown} was answered with status {refusal.status}: "
            f"{said}{refusal.advice}",
            status=refusal.status,
        )

    def _headers(self, accept: str, message: Outgoing = _NO_MESSAGE) -> CIMultiDict[str]:
        headers = CIMultiDict(_DEFAULTS)
        headers.update(self._endpoint.headers)
        headers["Accept"] = accept
        terms = self._terms.headers(message.method)
        for name, value in {**terms, **message.headers}.items():
            if not name.lower().startswith(_OF_MESSAGES):
                raise InvalidArgument(f"a message cannot have the header {name!r}, only Mcp-...")
            headers[name] = value
        return headers

    # -- streams ----------------------------------------------------------------------------------

    async def _open_stream(self, cursor: Cursor) -> aiohttp.ClientResponse:
        """A stream from where it was read to, or the server's own; legacy only."""
        headers = self._headers(EVENTS)
        if cursor.last_id:
            headers["Last-Event-ID"] = cursor.last_id
        response = await self._client.send("GET", headers)
        if is_event_stream(response):
            return response
        response.close()
        raise McpProtocolError(
            f"{self._peer} gives no stream, but status {response.status}", status=response.status
        )

    def _listen(self) -> None:
        """Listen to what the server says by itself, anew if that was begun for an earlier session."""
        if self._listening is not None:
            self._listening.cancel()
        work = listen(self._peer, self._open_stream, self._inbox.take_event)
        self._listening = self._start(work)

    def _let_end(self, response: aiohttp.ClientResponse) -> None:
        """All of an answer that counts has come. A stream that ends soon leaves its connection for others."""
        if self._closed or response.content.at_eof():
            response.close()
        else:
            self._start(_read_out(response))

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # -- end --------------------------------------------------------------------------------------

    def condemn(self) -> None:
        """See `Transport.condemn`: the end of the session is not told to a server that does not listen."""
        self._condemned = True

    async def aclose(self) -> None:
        """End the session and close every connection; at most `McpTimeouts.shutdown` seconds."""
        self._closed = True
        if self._opened:
            self._inbox.close()
            await to_the_end(self._close())

    async def _close(self) -> None:
        async with self._ending:
            if not self._opened:
                return
            tasks = list(self._tasks)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            try:
                await self._end_session()
            finally:
                await self._client.aclose()
                self._opened = False

    async def _end_session(self) -> None:
        """Say that the session may be forgotten; whatever the server says to that."""
        if self._condemned or not self._terms.session_id:
            return
        try:
            async with asyncio.timeout(self._timeouts.shutdown):
                response = await self._client.send("DELETE", self._headers("*/*"))
                response.close()
        except (TimeoutError, McpError) as error:
            _log.debug("a session was not ended", peer=self._peer, why=str(error))


async def _read_out(response: aiohttp.ClientResponse) -> None:
    """Read what nobody needs, so that the connection can be used again; for a moment only."""
    try:
        async with asyncio.timeout(_LET_END_S):
            while await response.content.readany():
                pass
    except BROKEN as error:  # TimeoutError among them: the connection is closed, not kept
        _log.debug("a connection is not kept", why=type(error).__name__)
    finally:
        response.close()
