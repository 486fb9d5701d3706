"""`Channel`: an open connection to a server, and one request at a time by the rules of its era.

It makes the connection and agrees with the server, answers what the server asks, begins another HTTP
session where the server has forgotten one, and knows nothing of tools. It owns its dispatcher.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import structlog
from msgspec import Struct

from actors.errors import McpConnectionLost, McpError, McpTimeout
from actors.mcp.config import HttpServer, McpServerConfig
from actors.mcp.deadline import Deadline
from actors.mcp.dispatcher import Dispatcher, Handlers
from actors.mcp.handshake import UNCANCELLED, Handshake
from actors.mcp.headers import standard_headers
from actors.mcp.hooks import Questions
from actors.mcp.jsonrpc import Request
from actors.mcp.revisions import Agreed, modern_meta
from actors.mcp.transport import NO_HEADERS, SessionLost, Transport, TransportMaker

_log = structlog.get_logger(__name__)


class EraMemory:
    """The era a server was found to speak, kept over its connections so that it is asked once."""

    def __init__(self) -> None:
        self.legacy: bool | None = None


class ChannelEvents(Struct, frozen=True):
    """Whom to tell; called on the loop, they return at once.

    * `lost`: the connection has ended by itself after `open`, or was given up. Told once.
    * `notified`: a notification came: its method and parameters.
    * `renewed`: another HTTP session was begun; the server may be another one.
    """

    lost: Callable[[McpConnectionLost], None]
    notified: Callable[[str, dict[str, Any]], None]
    renewed: Callable[[], None]


class Channel:
    """See the module. `peer` names the server in messages: `server 'files'`."""

    def __init__(
        self,
        peer: str,
        config: McpServerConfig,
        make_transport: TransportMaker,
        questions: Questions,
        events: ChannelEvents,
        era: EraMemory,
    ) -> None:
        self.peer = peer
        self._config = config
        self._make_transport = make_transport
        self._questions = questions
        self._events = events
        self._era = era
        self._agreed: Agreed | None = None
        self._meta: dict[str, Any] = {}
        self._renewing = asyncio.Lock()
        self._renewals = 0
        self._opened = False
        self._transport: Transport
        self._dispatcher: Dispatcher
        self._connect()

    # -- life -------------------------------------------------------------------------------------

    @property
    def agreed(self) -> Agreed:
        """What both sides have agreed on; only after `open`."""
        assert self._agreed is not None, "the channel is not open"
        return self._agreed

    @property
    def alive(self) -> bool:
        """Whether it is open and has not been lost."""
        return self._opened

    @property
    def transport(self) -> Transport:
        """What moves the messages."""
        return self._transport

    @property
    def heard_at(self) -> float:
        """When anything last came from the server, in seconds of the loop's clock."""
        return self._dispatcher.heard_at

    def _connect(self) -> None:
        self._transport = self._make_transport()
        requests = {"ping": _pong} | dict.fromkeys(self._questions.methods, self._answer)
        handlers = Handlers(
            requests=requests,
            notification=self._notified,
            abandoned=self._abandoned,
            lost=self._lost,
        )
        self._dispatcher = Dispatcher(self.peer, self._transport, handlers)

    async def open(self) -> None:
        """Connect and agree, within `handshake` seconds; nothing is left after an error or a cancel.

        Raises:
            McpConnectionLost: there is no such server, or it ended.
            McpProtocolError: it speaks no revision that is spoken here.
            McpRefused: it refused to begin.
            McpTimeout: it was not ready in time.
        """
        limit = self._config.timeouts.handshake
        try:
            async with asyncio.timeout(limit):
                await self._begin()
        except TimeoutError as error:
            words = self._transport.last_words()
            await self._failed_to_open()
            raise McpTimeout(f"{self.peer} was not ready within {limit:g} s{words}") from error
        except BaseException:
            await self._failed_to_open()
            raise

    async def _failed_to_open(self) -> None:
        self._era.legacy = None  # the next connection asks again
        await self.aclose()

    async def _begin(self) -> None:
        self._adopt(await self._agree())
        if self.agreed.legacy:
            await self._dispatcher.notify("notifications/initialized", {})
        self._opened = True
        if self._dispatcher.ended is not None:
            raise McpConnectionLost(str(self._dispatcher.ended))

    async def _agree(self) -> Agreed:
        await self._dispatcher.open()
        handshake = self._handshake()
        match self._config.era, self._era.legacy:
            case ("legacy", _) | ("auto", True):
                return await handshake.initialize()
            case ("modern", _) | ("auto", False):
                return await handshake.discover()
        try:
            return await handshake.auto()
        except McpConnectionLost as error:  # some servers exit at a question they do not know
            _log.info("asked anew, as a legacy server", peer=self.peer, why=str(error))
        await self._dispatcher.aclose()
        self._connect()
        await self._dispatcher.open()
        return await self._handshake().initialize()

    def _handshake(self) -> Handshake:
        return Handshake(
            self.peer, self._dispatcher, self._questions.capabilities, self._config.timeouts
        )

    def _adopt(self, agreed: Agreed) -> None:
        self._agreed = agreed
        self._era.legacy = agreed.legacy
        if not agreed.legacy:
            self._meta = modern_meta(agreed.revision, self._questions.capabilities)
        self._transport.agreed(agreed.revision, legacy=agreed.legacy)

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run work that lives no longer than the connection; its `McpError`s are its own to handle."""
        self._dispatcher.start(work)

    def give_up(self, why: str) -> None:
        """Take the server for dead: all that wait fail, and `lost` is told."""
        self._transport.condemn()
        text = f"{self.peer} is taken for dead: {why}{self._transport.last_words()}"
        self._dispatcher.lost(McpConnectionLost(text))

    async def aclose(self) -> None:
        """End the connection; requests in flight fail. Bounded in time, may be called twice."""
        self._opened = False
        await self._dispatcher.aclose()

    def _lost(self, error: McpConnectionLost) -> None:
        if self._opened:
            self._opened = False
            self._events.lost(error)

    # -- requests ---------------------------------------------------------------------------------

    async def ask(
        self,
        method: str,
        params: Mapping[str, Any],
        deadline: Deadline,
        *,
        token: int | None = None,
        headers: Mapping[str, str] = NO_HEADERS,
    ) -> Any:
        """The result of a request; made once more where the server has only forgotten the HTTP session.

        `token` is for its progress, `headers` are further ones of modern HTTP. Raises as
        `Dispatcher.request`.
        """
        meta = self._meta if token is None else {**self._meta, "progressToken": token}
        body = {**params, "_meta": meta} if meta else params
        if self.speaks_headers:
            headers = {**standard_headers(method, params), **headers}
        renewals = self._renewals
        try:
            return await self._dispatcher.request(method, body, deadline, headers)
        except SessionLost as error:
            _log.info("the session is gone; another one is begun", peer=self.peer, why=str(error))
        await self._renewed(renewals)
        again = Deadline(self._config.timeouts.call)
        return await self._dispatcher.request(method, body, again, headers)

    async def _renewed(self, renewals: int) -> None:
        """Begin another HTTP session, once for all who found it lost."""
        async with self._renewing:
            if self._renewals == renewals:
                self._adopt(await self._handshake().initialize())
                await self._dispatcher.notify("notifications/initialized", {})
                self._renewals += 1
                self._events.renewed()

    async def ping(self) -> None:
        """Raises McpTimeout or McpConnectionLost if the server gives no sign of life within `ping` s."""
        method = "ping" if self.agreed.legacy else "server/discover"
        try:
            await self.ask(method, {}, Deadline(self._config.timeouts.ping))
        except (McpConnectionLost, McpTimeout):
            raise
        except McpError as error:  # an odd answer is one, too
            _log.debug("an odd answer to a ping", peer=self.peer, error=str(error))

    @property
    def speaks_headers(self) -> bool:
        """Whether requests say in headers what they are about (modern HTTP)."""
        modern = self._agreed is not None and not self._agreed.legacy
        return modern and isinstance(self._config.server, HttpServer)

    # -- what the server begins -------------------------------------------------------------------

    async def _answer(self, request: Request) -> dict[str, Any]:
        return await self._questions.answer(request.method, request.params)

    def _notified(self, method: str, params: dict[str, Any]) -> None:
        if method == "notifications/cancelled":
            self._dispatcher.withdraw(params.get("requestId", ""))
        else:
            self._events.notified(method, params)

    def _abandoned(self, identity: int, method: str) -> None:
        """Tell the server that nobody waits for that answer."""
        if method not in UNCANCELLED:
            self._dispatcher.start(self._cancelled(identity))

    async def _cancelled(self, identity: int) -> None:
        params: dict[str, Any] = {"requestId": identity, "reason": "nobody waits for it any more"}
        if self._meta:
            params["_meta"] = self._meta
        try:
            await self._dispatcher.notify("notifications/cancelled", params)
        except McpError as error:
            _log.debug("a cancel was not sent", peer=self.peer, error=str(error))


async def _pong(_: Request) -> dict[str, Any]:
    return {}
