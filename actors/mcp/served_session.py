"""`ServedSession`: what an MCP server of ours answers one client, in both eras; no I/O.

*Legacy* (2024-11-05 to 2025-11-25): `initialize`, `ping`, and then the rest. *Modern* (2026-07-28): each
request brings its revision in `_meta`, and `server/discover` tells which are spoken. In both `tools/list`,
`tools/call`, `notifications/progress` for calls that ask for it, and `notifications/cancelled`. A client may
change from one to the other between two requests, as one does that probes. Everything else is refused with
-32601.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import structlog

from actors.errors import McpConnectionLost
from actors.mcp.dispatcher import Dispatcher, Handlers, Refusal
from actors.mcp.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, Request
from actors.mcp.revisions import (
    LEGACY,
    MODERN,
    PROTOCOL_VERSION,
    SERVER_INFO,
    UNSUPPORTED_VERSION,
    own_info,
)
from actors.mcp.served_offer import Offer
from actors.mcp.served_results import call_result, failed
from actors.mcp.transport import Transport

CALLS_AT_ONCE: Final = 1000
"""Calls in flight, those that wait for their turn among them; more are refused."""

HEARTBEAT_S: Final = 5.0
"""A call that has nothing to tell says so often that it still runs, if its client wants progress."""

LIST_TTL_MS: Final = 3_600_000
"""The tools of a server of ours are the same for its life."""

_CAPABILITIES: Final[Mapping[str, Any]] = {"tools": {}}

_log = structlog.get_logger(__name__)


class ServedSession:
    """See the module. `peer` names the client in messages; `instructions` are for its model, '' for none."""

    def __init__(
        self,
        peer: str,
        transport: Transport,
        offer: Offer,
        *,
        instructions: str = "",
        lost: Callable[[McpConnectionLost], None],
        heartbeat_s: float = HEARTBEAT_S,
    ) -> None:
        self._offer = offer
        self._names = {tool["name"] for tool in offer.tools()}
        self._instructions = {"instructions": instructions} if instructions else {}
        self._heartbeat_s = heartbeat_s
        self._initialized = False
        requests = {
            "initialize": self._initialize,
            "ping": self._ping,
            "server/discover": self._discover,
            "tools/list": self._in_its_era(self._list),
            "tools/call": self._in_its_era(self._call),
        }
        handlers = Handlers(requests, self._told, lost=lost, refuses_noise=True)
        self.dispatcher = Dispatcher(peer, transport, handlers)

    # -- eras -------------------------------------------------------------------------------------

    async def _initialize(self, request: Request) -> dict[str, Any]:
        asked = request.params.get("protocolVersion")
        self._initialized = True
        return {
            "protocolVersion": asked if asked in LEGACY else LEGACY[0],
            "capabilities": _CAPABILITIES,
            "serverInfo": own_info(),
            **self._instructions,
        }

    async def _ping(self, _: Request) -> dict[str, Any]:
        return {}

    async def _discover(self, request: Request) -> dict[str, Any]:
        _modern_revision(request)
        return {
            "resultType": "complete",
            "supportedVersions": [*MODERN, *LEGACY],
            "capabilities": _CAPABILITIES,
            "_meta": {SERVER_INFO: own_info()},
            "ttlMs": LIST_TTL_MS,
            "cacheScope": "private",
            **self._instructions,
        }

    def _in_its_era(
        self, answer: Callable[[Request], Awaitable[dict[str, Any]]]
    ) -> Callable[[Request], Awaitable[dict[str, Any]]]:
        async def answered(request: Request) -> dict[str, Any]:
            if _modern_revision(request):
                return {"resultType": "complete", **await answer(request)}
            if not self._initialized:
                raise Refusal(
                    INVALID_REQUEST,
                    f"{request.method} came before initialize, and without "
                    f"_meta[{PROTOCOL_VERSION!r}]; send one of the two",
                )
            return await answer(request)

        return answered

    # -- tools ------------------------------------------------------------------------------------

    async def _list(self, request: Request) -> dict[str, Any]:
        if request.params.get("cursor") is not None:
            raise Refusal(INVALID_PARAMS, "there is one page of tools, and no cursor was given out")
        listed: dict[str, Any] = {"tools": self._offer.tools()}
        if _modern_revision(request):
            listed |= {"ttlMs": LIST_TTL_MS, "cacheScope": "private"}
        return listed

    async def _call(self, request: Request) -> dict[str, Any]:
        name, arguments = request.params.get("name"), request.params.get("arguments")
        if not isinstance(name, str) or name not in self._names:
            listed = ", ".join(sorted(self._names)) or "none"
            raise Refusal(INVALID_PARAMS, f"there is no tool {name!r}; the tools are: {listed}")
        if arguments is None:
            arguments = {}
        if not isinstance(arguments, dict):
            return failed(f"arguments: expected an object, got {type(arguments).__name__}")
        if self.dispatcher.answering > CALLS_AT_ONCE:
            raise Refusal(INTERNAL_ERROR, f"{CALLS_AT_ONCE} calls are running; wait for one to end")
        news = _News(self.dispatcher, _meta(request).get("progressToken"))
        beating = asyncio.ensure_future(news.beat(self._heartbeat_s)) if news.wanted else None
        try:
            result = await self._offer.call(name, arguments, news.tell)
        finally:
            if beating is not None:
                beating.cancel()
        await news.sent()
        return call_result(result)

    def _told(self, method: str, params: dict[str, Any]) -> None:
        """A notification came; all but one ask for nothing."""
        identity = params.get("requestId")
        if method == "notifications/cancelled" and isinstance(identity, int | str):
            self.dispatcher.withdraw(identity)


class _News:
    """`notifications/progress` of one call, numbered from 1; nothing is sent without a token."""

    def __init__(self, dispatcher: Dispatcher, token: object) -> None:
        self._dispatcher = dispatcher
        self._token = token
        self._numbers = itertools.count(1)
        self._sending: set[asyncio.Task[None]] = set()
        self.wanted = isinstance(token, int | str)

    def tell(self, message: str) -> None:
        """Send one; the sending is not waited for, since the work goes on."""
        if self.wanted:
            task = self._dispatcher.start(self._send(message))
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)

    async def sent(self) -> None:
        """Wait until all that was told is on its way: news of a call that was answered mean nothing."""
        await asyncio.gather(*self._sending)

    async def beat(self, every_s: float) -> None:
        """Tell every so many seconds that the call still runs, until cancelled."""
        for beats in itertools.count(1):
            await asyncio.sleep(every_s)
            self.tell(f"running for {beats * every_s:g} s")

    async def _send(self, message: str) -> None:
        params = {
            "progressToken": self._token,
            "progress": next(self._numbers),
            "message": message,
        }
        try:
            await self._dispatcher.notify("notifications/progress", params)
        except McpConnectionLost as error:
            _log.debug("progress could not be told", why=str(error))


def _meta(request: Request) -> dict[str, Any]:
    meta = request.params.get("_meta")
    return meta if isinstance(meta, dict) else {}


def _modern_revision(request: Request) -> str:
    """The modern revision a request speaks, '' for a legacy one.

    Raises:
        Refusal: it names one that is not spoken; -32022, with the revisions that are.
    """
    revision = _meta(request).get(PROTOCOL_VERSION)
    if revision is None:
        return ""
    if revision in MODERN:
        return str(revision)
    raise Refusal(
        UNSUPPORTED_VERSION,
        f"revision {revision!r} is not spoken here",
        {"supported": [*MODERN, *LEGACY], "requested": revision},
    )
