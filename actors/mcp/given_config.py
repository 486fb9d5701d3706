"""What a caller may give where a server is meant, made a configuration."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from actors.errors import InvalidArgument, MCPRegistryError
from actors.mcp.config import HttpServer, McpServerConfig, StdioServer
from actors.mcp.registry_entry import read_entry

GivenServer = McpServerConfig | StdioServer | HttpServer | Mapping[str, Any]
"""A configuration; a server with the default limits; or an entry as in a file of MCP servers (gaia 7, 8)."""


def config_of(name: object, given: object) -> McpServerConfig:
    """The configuration that is meant by `given` for a server of that name.

    Raises:
        InvalidArgument: the name is empty, or nothing can be started or reached by what is given.
    """
    if not isinstance(name, str) or not name:
        raise InvalidArgument(
            f"the name of an MCP server: expected a text, not empty, got {name!r}"
        )
    if isinstance(given, McpServerConfig):
        return given
    if isinstance(given, StdioServer | HttpServer):
        return McpServerConfig(given)
    if not isinstance(given, Mapping):
        raise InvalidArgument(
            f"MCP server {name!r}: expected a McpServerConfig, a StdioServer, a HttpServer or an object "
            f"with a 'command', got {type(given).__name__}"
        )
    try:
        return read_entry(dict(given), os.environ)
    except MCPRegistryError as error:
        raise InvalidArgument(f"MCP server {name!r}: {error}") from error
