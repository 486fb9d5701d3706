"""Files of MCP servers that name the small programs of `tests/actors/mcp/servers`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import msgspec

from tests.actors.mcp.sessions import bad_server


def entry(name: str, *args: str, **more: Any) -> dict[str, Any]:
    """An entry that starts one of the servers."""
    server = bad_server(name, *args)
    return {"command": server.command, "args": list(server.args), **more}


def command(name: str, *args: str) -> str:
    """The same as a command line."""
    server = bad_server(name, *args)
    return shlex.join([server.command, *server.args])


def written(directory: Path, **servers: Any) -> tuple[str, str]:
    """The options that name a file with these servers."""
    path = directory / "servers.json"
    path.write_bytes(msgspec.json.encode({"mcpServers": servers}))
    return "--config", str(path)
