"""The transport under test, open, with a receiver that writes down."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from actors.mcp.config import HttpServer, McpTimeouts
from actors.mcp.http import HttpTransport
from actors.mcp.jsonrpc import answer_bytes, notification_bytes, request_bytes
from actors.mcp.transport import Outgoing
from tests.actors.mcp.http_servers.peer import HttpPeer
from tests.actors.mcp.stdio_peers import Recorder

LEGACY = "2025-11-25"
MODERN = "2026-07-28"


class Client:
    """An open transport, its name `x`, and its recorder; closed at the end of the block."""

    def __init__(
        self,
        server: HttpPeer | str,
        *,
        headers: tuple[tuple[str, str], ...] = (),
        bearer_token: str = "",
        timeouts: McpTimeouts | None = None,
    ) -> None:
        url = server if isinstance(server, str) else server.url
        self.recorder = Recorder()
        self.transport = HttpTransport(
            "x", HttpServer(url, headers, bearer_token), timeouts or McpTimeouts(shutdown=5.0)
        )

    async def __aenter__(self) -> Client:
        await self.transport.open(self.recorder)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.transport.aclose()

    async def ask(self, identity: int | str, method: str = "tools/call", **headers: str) -> None:
        """Send a request and wait for `send`."""
        await self.transport.send(request(identity, method, headers=headers))

    async def tell(self, method: str) -> None:
        """Send a notification."""
        await self.transport.send(Outgoing(notification_bytes(method, {}), None, method))

    async def answer(self, identity: int) -> None:
        """Answer a request of the server."""
        await self.transport.send(Outgoing(answer_bytes(identity, {})))

    async def begin(self) -> None:
        """The legacy handshake."""
        await self.ask(0, "initialize")
        await self.recorder.next_result()
        self.transport.agreed(LEGACY, legacy=True)
        await self.tell("notifications/initialized")

    async def results(self, count: int) -> list[Any]:
        """The results of so many answers."""
        return [await self.recorder.next_result() for _ in range(count)]


def request(
    identity: int | str,
    method: str = "tools/call",
    params: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Outgoing:
    """A request on its way out; `_` in the names of headers stand for `-`."""
    named = {name.replace("_", "-"): value for name, value in (headers or {}).items()}
    return Outgoing(request_bytes(identity, method, params or {}), identity, method, named)
