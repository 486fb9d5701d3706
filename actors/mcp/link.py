"""`McpLink`: one member's use of one server: calls that outlive the server's deaths (gaia 7).

A call that finds no connection, or loses it, waits for the next one and is made once more. Where its request
had been sent, so that the tool may have run, `retry_sent` of the configuration decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import structlog

from actors.errors import McpConnectionLost, McpToolGone
from actors.mcp.config import McpServerConfig
from actors.mcp.connection import McpConnection, Opened, Relist
from actors.mcp.hooks import NO_HOOKS, McpHooks
from actors.mcp.hub import Leave, ServerKey, joined, mcp_hub, opened_by
from actors.mcp.progress import OnProgress
from runtime import ActorRef, ActorSystem

_log = structlog.get_logger(__name__)

SHOWN_TOOLS = 50
"""Most names of tools in a message."""


class McpLink:
    """See the module. Used on the system's loop; `name` is what the member calls the server."""

    def __init__(
        self,
        system: ActorSystem,
        name: str,
        config: McpServerConfig,
        member: ActorRef[Any],
        hooks: McpHooks = NO_HOOKS,
    ) -> None:
        self.name = name
        self.key = ServerKey(config, hooks)
        self._system = system
        self._member = member
        self._connection: ActorRef[McpConnection] | None = None
        self._opened: Opened | None = None

    @property
    def connection(self) -> ActorRef[McpConnection] | None:
        """The connection, once there was one; it may be dead."""
        return self._connection

    @property
    def longest(self) -> float:
        """Seconds after which a call has ended in any case: two waits for a connection, two calls."""
        limits = self.key.config.timeouts
        return 2 * (2 * limits.handshake + max(limits.ceiling, limits.call))

    async def open(self) -> Opened:
        """The present session, once it is ready. Raises McpError."""
        if self._opened is not None and self._opened.session.alive:
            return self._opened
        connection = self._connection
        if connection is not None and connection.is_alive():
            limit = 2 * self.key.config.timeouts.handshake
            self._opened = await opened_by(self.name, connection, limit)
        else:
            answer = await joined(self._system, self.name, self.key, self._member)
            self._connection, self._opened = answer.connection, answer.opened
        return self._opened

    def listed(self, opened: Opened) -> None:
        """The connection has listed its tools again."""
        self._opened = opened

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        repeatable: bool = False,
        within: float = 0.0,
        on_progress: OnProgress | None = None,
    ) -> Any:
        """The server's result; `repeatable` says that running the tool twice does no harm.

        Raises:
            McpToolGone: the server does not list the tool any more.
            McpError: as `McpSession.call_tool`; after a lost connection only once the call had its second
                chance, or must not have one.
        """
        try:
            return await self._call(tool, arguments, within, on_progress)
        except McpConnectionLost as lost:
            if lost.sent and not self._may_repeat(repeatable):
                raise McpConnectionLost(
                    f"{lost}; the call of {tool!r} had been sent and is not made again "
                    f"(retry_sent={self.key.config.retry_sent!r}): whether it ran is unknown",
                    sent=True,
                ) from lost
            _log.warning("called once more", server=self.name, tool=tool, why=str(lost))
        return await self._call(tool, arguments, within, on_progress)

    async def _call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        within: float,
        on_progress: OnProgress | None,
    ) -> Any:
        opened = await self.open()
        if tool not in opened.tools:
            names = sorted(opened.tools)
            more = f" and {len(names) - SHOWN_TOOLS} more" if len(names) > SHOWN_TOOLS else ""
            raise McpToolGone(
                f"server {self.name!r} does not list {tool!r} any more; it lists "
                f"{', '.join(names[:SHOWN_TOOLS]) or 'nothing'}{more}"
            )
        if opened.session.tools_outdated and self._connection is not None:
            self._connection.tell(Relist())
        return await opened.session.call_tool(
            tool, arguments, within=within, on_progress=on_progress
        )

    def _may_repeat(self, repeatable: bool) -> bool:
        setting = self.key.config.retry_sent
        return setting == "always" or (setting == "safe" and repeatable)

    def leave(self) -> None:
        """Use the server no more; its connection ends with its last member."""
        self._opened = self._connection = None
        mcp_hub(self._system).tell(Leave(self.key, self._member))
