"""How both sides agree on an era and a revision (MCP basic/versioning, "era detection").

The question is `server/discover`: an answer that names a modern revision settles it, and so does the error
that names one. Everything else means a legacy server: another error, an answer that cannot be read, silence,
another HTTP status, and a server that exits at the question, which is the caller's business since it needs
a new connection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from actors.errors import McpProtocolError, McpRefused, McpTimeout
from actors.mcp.config import McpTimeouts
from actors.mcp.deadline import Deadline
from actors.mcp.dispatcher import Dispatcher
from actors.mcp.revisions import (
    LEGACY,
    MODERN,
    UNSUPPORTED_VERSION,
    Agreed,
    agreed_from,
    modern_meta,
    mutual,
    own_info,
    supported_by,
)

UNCANCELLED: Final = frozenset(("initialize", "server/discover"))
"""Requests that are never cancelled by a notification (MCP basic/utilities/cancellation)."""

_DENIED = frozenset((401, 403))


class Handshake:
    """One connection's agreement. `peer` names the server in messages: `server 'files'`."""

    def __init__(
        self,
        peer: str,
        dispatcher: Dispatcher,
        capabilities: Mapping[str, Any],
        timeouts: McpTimeouts,
    ) -> None:
        self._peer = peer
        self._dispatcher = dispatcher
        self._capabilities = capabilities
        self._timeouts = timeouts

    async def auto(self) -> Agreed:
        """Ask for the era and agree. Raises as `initialize`, and what ends the probe (see the module)."""
        agreed = await self._probed()
        if agreed is not None:
            return agreed
        try:
            return await self.initialize()
        except McpRefused as error:
            # The server answered the probe too late, and has settled for a modern revision meanwhile.
            named = mutual(_named(error), MODERN)
            if named is None:
                raise
            return await self.discover(named)

    async def _probed(self) -> Agreed | None:
        """The modern agreement; None for a legacy server."""
        revision = MODERN[0]
        for _ in range(2):
            try:
                said = await self._discover(revision, self._timeouts.probe)
            except McpRefused as error:
                supported = _named(error)
                named = mutual(supported, MODERN)
                if named is None:
                    self._require_mutual(supported)
                    return None
                revision = named
            except McpTimeout:
                return None
            except McpProtocolError as error:
                if error.status in _DENIED:
                    raise
                return None
            else:
                return self._modern(said)
        return None

    def _modern(self, said: object) -> Agreed | None:
        if not isinstance(said, dict):
            return None
        supported = supported_by(said.get("supportedVersions"))
        revision = mutual(supported, MODERN)
        if revision is None:
            self._require_mutual(supported)
            return None
        return agreed_from(said, revision, legacy=False)

    def _require_mutual(self, supported: list[str] | None) -> None:
        if supported and mutual(supported, LEGACY) is None:
            raise McpProtocolError(
                f"{self._peer} speaks the revisions {', '.join(supported)}; spoken here are "
                f"{', '.join(MODERN + LEGACY)}"
            )

    async def discover(self, revision: str = MODERN[0]) -> Agreed:
        """Agree on a modern revision. Raises McpProtocolError where there is no common one."""
        said = await self._discover(revision, self._timeouts.handshake)
        agreed = self._modern(said)
        if agreed is None:
            raise McpProtocolError(
                f"{self._peer} does not speak {' or '.join(MODERN)}; configure era='auto' or 'legacy'"
            )
        return agreed

    async def _discover(self, revision: str, seconds: float) -> Any:
        return await self._dispatcher.request(
            "server/discover",
            {"_meta": modern_meta(revision, self._capabilities)},
            Deadline(seconds),
            {"MCP-Protocol-Version": revision, "Mcp-Method": "server/discover"},
        )

    async def initialize(self) -> Agreed:
        """Agree on a legacy revision: ours if the server takes it, else the one it offers.

        Raises:
            McpProtocolError: it offers none that is spoken here, or something that is no answer.
            McpRefused, McpTimeout, McpConnectionLost: as they say.
        """
        said = await self._dispatcher.request(
            "initialize",
            {
                "protocolVersion": LEGACY[0],
                "capabilities": self._capabilities,
                "clientInfo": own_info(),
            },
            Deadline(self._timeouts.handshake),
        )
        revision = said.get("protocolVersion") if isinstance(said, dict) else None
        if not isinstance(revision, str):
            raise McpProtocolError(f"{self._peer} answered initialize without a protocolVersion")
        if revision not in LEGACY:
            raise McpProtocolError(
                f"{self._peer} offers revision {revision!r}; spoken here are {', '.join(LEGACY)}"
            )
        return agreed_from(said, revision, legacy=True)


def _named(error: McpRefused) -> list[str] | None:
    """The revisions that a modern error names; None for any other error."""
    if error.code != UNSUPPORTED_VERSION or not isinstance(error.data, dict):
        return None
    return supported_by(error.data.get("supported"))
