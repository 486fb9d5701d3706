"""`McpConnection`: the actor that owns one connection to a server, and hands out its session.

It connects in the background of its start and lists the server's tools; then it is *ready*. When the server
dies, hangs or closes the connection the actor fails, and its supervisor begins another incarnation, with
another server process where that is ours. Messages that come meanwhile wait in the mailbox.

Calls do not go through the mailbox: `OpenSession` gives the session of the present incarnation, and a session
whose connection is gone says so at once. `CallTool` is for actors that only send messages.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any, ClassVar, Final, Literal

from msgspec import Struct

from actors.errors import AgentError, McpConnectionLost, McpError, McpRefused, McpTimeout
from actors.mcp.channel import EraMemory
from actors.mcp.config import McpServerConfig
from actors.mcp.hooks import McpHooks
from actors.mcp.jsonrpc import METHOD_NOT_FOUND
from actors.mcp.session import McpSession, SessionEvents
from actors.mcp.transports import new_transport
from runtime import Actor, ActorRef

RELIST_PAUSE_S: Final = 0.1
"""Least time between two lists of tools, however often a server says that they have changed."""


class Opened(Struct, frozen=True):
    """A session that is ready, and the tools its server lists, by name, as the server lists them."""

    session: McpSession
    tools: Mapping[str, dict[str, Any]]


class OpenSession(Struct, frozen=True):
    """Ask for the present session; the answer is an `Opened`, or the `McpError` of the present try."""


class CallTool(Struct, frozen=True):
    """Call a tool; the answer is the server's result, or an `McpError`. `within`: seconds, 0 as configured."""

    tool: str
    arguments: Mapping[str, Any]
    within: float = 0.0


class Relist(Struct, frozen=True):
    """Tell that the list of tools may be another one."""


class ReadState(Struct, frozen=True):
    """Ask how the connection is; the answer is a `ConnectionState`."""


class ConnectionState(Struct, frozen=True):
    """How a connection is. `revision`, `server` and `tools` only when it is ready; `pid` of a program."""

    state: Literal["connecting", "ready", "failed"]
    pid: int | None = None
    revision: str = ""
    server: Mapping[str, Any] = {}
    tools: int = 0
    reason: str = ""


class ToolsListed(Struct, frozen=True):
    """Told to `listener`: these are the tools now."""

    connection: ActorRef[Any]
    opened: Opened


class McpConnection(Actor):
    """See the module. `listener` is told of each list of tools; `era` outlives the incarnations."""

    expected_errors: ClassVar[tuple[type[BaseException], ...]] = (AgentError,)
    cancel_on_stop: ClassVar[bool] = True

    def __init__(
        self,
        name: str,
        config: McpServerConfig,
        hooks: McpHooks,
        era: EraMemory,
        listener: ActorRef[Any],
    ) -> None:
        super().__init__()
        self._server = f"server {name!r}"
        self._config = config
        self._listener = listener
        self._relisting = False
        self._stale = False
        self._end: McpError | None = None
        self._opened: Opened | None = None
        self._opening: asyncio.Future[Opened]
        self._session = McpSession(
            name,
            config,
            lambda: new_transport(name, config),
            hooks=hooks,
            events=SessionEvents(lost=self._lost, tools_changed=self._changed),
            era=era,
        )

    def on_start(self) -> None:
        """Begin to connect."""
        self._opening = asyncio.get_running_loop().create_future()
        self.background(self._connect(), label="connect")

    def on_receive(self, message: Any) -> Any:
        """Answer at once, or beside the mailbox."""
        match message:
            case OpenSession():
                return self._opened or self.background(self._told(self._ready()), label="open")
            case CallTool():
                return self.background(self._told(self._call(message)), label=message.tool)
            case Relist():
                return self._changed()
            case ReadState():
                return self._state()
        return super().on_receive(message)

    # -- connecting -------------------------------------------------------------------------------

    async def _connect(self) -> None:
        limit = self._config.timeouts.handshake
        try:
            await self._session.open()
            async with asyncio.timeout(limit):
                opened = await self._listed()
        except TimeoutError:
            self._end = McpTimeout(f"{self._server} did not list its tools within {limit:g} s")
            raise self._end from None
        except McpError as error:
            self._end = error
            raise
        self._opened = opened
        self._opening.set_result(opened)
        self._publish(opened)
        if self._stale:
            self._changed()

    async def _ready(self) -> Opened:
        return await asyncio.shield(self._opening)  # cancelled with the incarnation, see `_told`

    async def _listed(self) -> Opened:
        try:
            tools = await self._session.list_tools()
        except McpRefused as error:
            if error.code != METHOD_NOT_FOUND:
                raise
            tools = []  # a server without tools
        return Opened(self._session, {str(tool.get("name")): tool for tool in tools})

    def _publish(self, opened: Opened) -> None:
        self._listener.tell(ToolsListed(self.actor_ref, opened))

    async def _call(self, message: CallTool) -> Any:
        opened = self._opened or await self._ready()
        return await opened.session.call_tool(
            message.tool, message.arguments, within=message.within
        )

    # -- change -----------------------------------------------------------------------------------

    def _changed(self) -> None:
        self._stale = True
        if self._opened is not None and not self._relisting:
            self._relisting = True
            self.background(self._relist(), label="list")

    async def _relist(self) -> None:
        """List the tools again until no change was told meanwhile."""
        try:
            while self._stale:
                self._stale = False
                opened = await self._listed()
                if self._opened is None or opened.tools != self._opened.tools:
                    self._opened = opened
                    self._publish(opened)
                await asyncio.sleep(RELIST_PAUSE_S)
        except McpConnectionLost as error:
            self.log.debug("the tools were not listed again", why=str(error))
        except McpError as error:
            self.log.warning("the tools were not listed again; the old ones stay", why=str(error))
        finally:
            self._relisting = False

    # -- the end ----------------------------------------------------------------------------------

    def _lost(self, error: McpConnectionLost) -> None:
        self._end = McpConnectionLost(str(error), sent=True)
        self.fail(self._end)

    async def _told(self, work: Coroutine[Any, Any, Any]) -> Any:
        """What work gives, or why the incarnation ended, which cancels its tasks."""
        try:
            return await work
        except asyncio.CancelledError:
            if self._end is None:
                raise
            raise self._end from None

    async def on_stop(self) -> None:
        """End the session, and the server with it."""
        await self._session.aclose()

    async def on_failure(self, *_: object) -> None:
        """End what is left of the session."""
        await self._session.aclose()

    def _state(self) -> ConnectionState:
        if self._end is not None:
            return ConnectionState("failed", reason=str(self._end))
        if self._opened is None:
            return ConnectionState("connecting", pid=self._pid)
        agreed = self._session.agreed
        return ConnectionState(
            "ready", self._pid, agreed.revision, agreed.server, len(self._opened.tools)
        )

    @property
    def _pid(self) -> int | None:
        return getattr(self._session.transport, "pid", None)
