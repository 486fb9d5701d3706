"""An agent's MCP servers: their tools among its own, kept as the servers list them (gaia 7).

A tool `read` of the server `files` is `mcp_files_read`. A call goes to the shared connection through a link,
so a server that dies costs a call time, or an error result, never the agent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import structlog
from msgspec.structs import replace

from actors.errors import McpError, ToolExists, ToolSchemaError
from actors.mcp.config import McpServerConfig
from actors.mcp.connection import Opened
from actors.mcp.hooks import McpHooks
from actors.mcp.hub import ServerKey
from actors.mcp.link import McpLink
from actors.mcp.results import tool_output
from actors.output.events import ErrorNoted, EventSink, InfoNoted, TurnEvent, WarningNoted
from actors.tools.decision import error_result
from actors.tools.mcp_spec import mcp_tool
from actors.tools.policy import ToolPolicy, stricter
from actors.tools.registry import ToolRegistry
from actors.tools.tool import Tool
from runtime import ActorRef, ActorSystem

_log = structlog.get_logger(__name__)


class _Server:
    """One server of an agent: the link, and what of it is registered, by the name the server gives it."""

    def __init__(self, link: McpLink) -> None:
        self.link = link
        self.listed: Mapping[str, dict[str, Any]] = {}
        self.registered: dict[str, str] = {}


class McpSide:
    """See the module. Of one incarnation of an agent; used on the system's loop."""

    def __init__(
        self,
        system: ActorSystem,
        agent: ActorRef[Any],
        registry: ToolRegistry,
        hooks: McpHooks,
        tell: EventSink | None,
    ) -> None:
        self._system = system
        self._agent = agent
        self._registry = registry
        self._hooks = hooks
        self._tell: Callable[[TurnEvent], None] = tell or _tell_nobody
        self._servers: dict[str, _Server] = {}

    @property
    def names(self) -> list[str]:
        """What the servers are called here, in order."""
        return sorted(self._servers)

    async def connect(self, name: str, config: McpServerConfig, *, stay: bool = False) -> bool:
        """Use a server under a name; False, with a warning, if it cannot be reached.

        With `stay` a server that cannot be reached now is kept: its tools come when it does. A name that
        is in use already means the new configuration from now on.
        """
        known = self._servers.get(name)
        if known is not None and known.link.key != ServerKey(config, self._hooks):
            self.disconnect(name)
        server = self._servers.setdefault(name, _Server(self._link(name, config)))
        try:
            opened = await server.link.open()
        except McpError as error:
            _log.warning("mcp_not_connected", server=name, error=str(error))
            self._tell(WarningNoted(f"MCP server {name!r}: {error}"))
            if not stay:
                self.disconnect(name)
            return False
        self._adopt(name, server, opened)
        self._tell(InfoNoted(f"MCP server {name!r}: {len(server.registered)} tools"))
        return True

    def _link(self, name: str, config: McpServerConfig) -> McpLink:
        return McpLink(self._system, name, config, self._agent, self._hooks)

    def disconnect(self, name: str) -> bool:
        """Use a server no more, and take its tools away; False if there is none of that name."""
        server = self._servers.pop(name, None)
        if server is None:
            return False
        server.link.leave()
        for exposed in server.registered.values():
            self._registry.remove(exposed)
        return True

    def disconnect_all(self) -> None:
        """Use no server any more."""
        for name in self.names:
            self.disconnect(name)

    def changed(self, key: ServerKey, opened: Opened) -> None:
        """A server lists other tools, or again; the next request to the model tells of them."""
        for name, server in self._servers.items():
            if server.link.key == key:
                server.link.listed(opened)
                self._adopt(name, server, opened)

    # -- tools ------------------------------------------------------------------------------------

    def _adopt(self, name: str, server: _Server, opened: Opened) -> None:
        """Make the registry say what the server lists. What has not changed is not touched."""
        for tool in [*server.registered]:
            if tool not in opened.tools:
                self._registry.remove(server.registered.pop(tool))
        for tool, listed in opened.tools.items():
            if server.listed.get(tool) != listed:
                self._register(name, server, tool, listed)
        server.listed = opened.tools

    def _register(self, name: str, server: _Server, tool: str, listed: dict[str, Any]) -> None:
        """Register one tool, in the place of an older form of it; one that cannot be is left out."""
        before = self._take_away(server, tool)
        try:
            made = self._made(name, server.link, listed)
            if before is not None:
                made = replace(made, policy=_no_laxer(before.policy, made.policy))
            self._registry.register(made)
        except (ToolExists, ToolSchemaError) as error:
            _log.warning("mcp_tool_left_out", server=name, tool=tool, error=str(error))
            self._tell(ErrorNoted(f"MCP server {name!r}: a tool is left out: {error}"))
            return
        server.registered[tool] = made.name

    def _take_away(self, server: _Server, tool: str) -> Tool | None:
        exposed = server.registered.pop(tool, None)
        if exposed is None:
            return None
        before = self._registry.find(exposed)
        self._registry.remove(exposed)
        return before

    def _made(self, name: str, link: McpLink, listed: dict[str, Any]) -> Tool:
        repeatable = False

        async def run(args: dict[str, Any]) -> Any:
            try:
                return tool_output(await link.call(listed["name"], args, repeatable=repeatable))
            except McpError as error:
                return error_result(str(error))

        made = mcp_tool(name, listed, run, timeout_s=link.longest)
        repeatable = made.idempotent
        return made


def _no_laxer(before: ToolPolicy | None, now: ToolPolicy | None) -> ToolPolicy | None:
    """A server that describes a tool anew cannot make its policy laxer."""
    return now if before is None or now is None else stricter(before, now)


def _tell_nobody(_: TurnEvent) -> None:
    """No handler, nobody to tell."""
