"""`McpSession`: the client's side of MCP over one connection, in whichever era the server speaks.

    session = McpSession("files", config, lambda: StdioTransport("files", server, config.timeouts))
    await session.open()
    tools = await session.list_tools()
    result = await session.call_tool("read_file", {"path": "a.txt"})
    await session.aclose()

Many requests may be in flight. A session lives once: after it was lost a new one is made. It runs on one
event loop, and owns its connection (and with it the server, if that is a program).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import structlog
from msgspec import Struct

from actors.errors import McpConnectionLost, McpTimeout
from actors.mcp.channel import Channel, ChannelEvents, EraMemory
from actors.mcp.config import McpServerConfig
from actors.mcp.deadline import Deadline
from actors.mcp.headers import argument_headers, parameter_headers
from actors.mcp.hooks import NO_HOOKS, McpHooks, Questions
from actors.mcp.input_rounds import needs_input, until_complete
from actors.mcp.listening import Listening
from actors.mcp.paging import all_pages, without_repeats
from actors.mcp.progress import OnProgress, ProgressTokens
from actors.mcp.revisions import Agreed
from actors.mcp.transport import NO_HEADERS, Transport, TransportMaker

_log = structlog.get_logger(__name__)


def _ignore(*_: object) -> None:
    """Nobody wants to know."""


class SessionEvents(Struct, frozen=True):
    """Whom to tell; called on the loop, they return at once.

    * `lost`: the connection has ended by itself after `open`, or the server was found dead. Told once.
    * `tools_changed`: the server says that its list of tools is another one, or may be.
    """

    lost: Callable[[McpConnectionLost], None] = _ignore
    tools_changed: Callable[[], None] = _ignore


class McpSession:
    """See the module. `name` is the server's, for messages; `make_transport` makes its connections."""

    def __init__(
        self,
        name: str,
        config: McpServerConfig,
        make_transport: TransportMaker,
        *,
        hooks: McpHooks = NO_HOOKS,
        events: SessionEvents | None = None,
        era: EraMemory | None = None,
    ) -> None:
        self._peer = f"server {name!r}"
        self._timeouts = config.timeouts
        self._questions = Questions(hooks, config.roots)
        self._events = events or SessionEvents()
        self._tokens = ProgressTokens()
        self._parameter_headers: dict[str, Mapping[tuple[str, ...], str]] = {}
        told = ChannelEvents(self._events.lost, self._notified, self._events.tools_changed)
        self._channel = Channel(
            self._peer, config, make_transport, self._questions, told, era or EraMemory()
        )
        self._listening = Listening(self._channel, self._events.tools_changed)

    # -- life -------------------------------------------------------------------------------------

    @property
    def agreed(self) -> Agreed:
        """What both sides have agreed on; only after `open`."""
        return self._channel.agreed

    @property
    def alive(self) -> bool:
        """Whether requests can be made: it is open, and the connection has not been lost."""
        return self._channel.alive

    @property
    def transport(self) -> Transport:
        """What moves the messages."""
        return self._channel.transport

    async def open(self) -> None:
        """Connect and agree; see `Channel.open` for the limits and errors."""
        await self._channel.open()
        self._channel.start(self._keep_alive())
        self._listening.begin()

    async def aclose(self) -> None:
        """End the session and its connection; requests in flight fail. Bounded, may be called twice."""
        await self._channel.aclose()

    # -- tools ------------------------------------------------------------------------------------

    async def list_tools(self) -> list[dict[str, Any]]:
        """The tools as the server lists them, all pages, each name once.

        Over HTTP a modern tool whose `x-mcp-header` annotations cannot be followed is left out with a
        warning (MCP 2026-07-28, transports).
        """
        entries, last = await self._list("tools/list", "tools")
        tools = without_repeats(self._peer, "tools", entries, "name")
        self._listening.listed(last)
        if self._channel.speaks_headers:
            tools = [tool for tool in tools if self._headers_known(tool)]
        return tools

    @property
    def tools_outdated(self) -> bool:
        """Whether the time for which the server vouched for its list has gone by (`ttlMs`)."""
        return self._listening.outdated

    async def call_tool(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        within: float = 0.0,
        on_progress: OnProgress | None = None,
    ) -> Any:
        """The result of a tool as the server gives it; `isError` in it is not looked at.

        `within` seconds replace the configured `call`; progress extends either, up to `ceiling`.

        Raises:
            InvalidArgument: the arguments cannot be written as JSON; nothing was sent.
            McpRefused: the server answered with an error, or wants input that nobody here gives.
            McpTimeout: no answer in time; the server was told that nobody waits.
            McpConnectionLost: `sent` says whether it may have run.
            McpProtocolError: the answer cannot be read.
        """
        mapping = self._parameter_headers.get(tool)
        headers = argument_headers(mapping, arguments) if mapping else NO_HEADERS
        params = {"name": tool, "arguments": arguments}
        return await self._call("tools/call", params, within, on_progress, headers)

    # -- resources and prompts --------------------------------------------------------------------

    async def list_resources(self) -> list[dict[str, Any]]:
        """All pages of `resources/list`."""
        return (await self._list("resources/list", "resources"))[0]

    async def list_resource_templates(self) -> list[dict[str, Any]]:
        """All pages of `resources/templates/list`."""
        return (await self._list("resources/templates/list", "resourceTemplates"))[0]

    async def read_resource(self, uri: str) -> Any:
        """The result of `resources/read`; raises as `call_tool`."""
        return await self._call("resources/read", {"uri": uri})

    async def list_prompts(self) -> list[dict[str, Any]]:
        """All pages of `prompts/list`."""
        return (await self._list("prompts/list", "prompts"))[0]

    async def get_prompt(self, name: str, arguments: Mapping[str, str]) -> Any:
        """The result of `prompts/get`; raises as `call_tool`."""
        return await self._call("prompts/get", {"name": name, "arguments": arguments})

    # -- requests ---------------------------------------------------------------------------------

    async def ping(self) -> None:
        """Raises McpTimeout or McpConnectionLost if the server gives no sign of life within `ping` s."""
        await self._channel.ping()

    async def _list(self, method: str, field: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        def ask(params: dict[str, Any]) -> Any:
            return self._channel.ask(method, params, Deadline(self._timeouts.call))

        return await all_pages(self._peer, method, field, ask)

    async def _call(
        self,
        method: str,
        params: dict[str, Any],
        within: float = 0.0,
        on_progress: OnProgress | None = None,
        headers: Mapping[str, str] = NO_HEADERS,
    ) -> Any:
        """A request that may take its time and may need input."""

        async def ask(more: dict[str, Any]) -> Any:
            deadline = Deadline(within or self._timeouts.call, ceiling=self._timeouts.ceiling)
            with self._tokens.given(deadline, on_progress) as token:
                return await self._channel.ask(
                    method, params | more, deadline, token=token, headers=headers
                )

        try:
            result = await ask({})
            if needs_input(result):
                result = await until_complete(self._peer, method, result, self._questions, ask)
        except McpTimeout:
            self._channel.start(self._sign_of_life())
            raise
        return result

    def _headers_known(self, tool: dict[str, Any]) -> bool:
        name, schema = tool.get("name"), tool.get("inputSchema")
        try:
            mapping = parameter_headers(schema if isinstance(schema, dict) else {})
        except ValueError as error:
            _log.warning("a tool is left out", peer=self._peer, tool=name, why=str(error))
            return False
        self._parameter_headers[str(name)] = mapping
        return True

    # -- what the server says ---------------------------------------------------------------------

    def _notified(self, method: str, params: dict[str, Any]) -> None:
        match method:
            case "notifications/progress":
                self._tokens.progressed(params)
            case "notifications/tools/list_changed":
                self._events.tools_changed()
            case _:
                _log.debug("notified", peer=self._peer, method=method)

    async def _keep_alive(self) -> None:
        """Ask a server that has nothing to do and is silent for `idle` seconds for a sign of life.

        One that has something to do may be too busy to answer: the calls' own limits count then.
        """
        idle = self._timeouts.idle
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(max(self._channel.heard_at + idle - loop.time(), idle / 10))
            if not self._tokens.in_flight and loop.time() - self._channel.heard_at >= idle:
                await self._sign_of_life()

    async def _sign_of_life(self) -> None:
        try:
            await self._channel.ping()
        except (McpTimeout, McpConnectionLost) as error:
            self._channel.give_up(str(error))
