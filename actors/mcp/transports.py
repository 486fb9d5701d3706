"""Which transport a configuration asks for."""

from __future__ import annotations

from actors.mcp.config import HttpServer, McpServerConfig
from actors.mcp.stdio import StdioTransport
from actors.mcp.transport import Transport


def new_transport(name: str, config: McpServerConfig) -> Transport:
    """A fresh transport to a server; `name` is the server's, for messages."""
    if isinstance(config.server, HttpServer):
        from actors.mcp.http import HttpTransport  # noqa: PLC0415  aiohttp takes long to import

        return HttpTransport(name, config.server, config.timeouts)
    return StdioTransport(name, config.server, config.timeouts)
