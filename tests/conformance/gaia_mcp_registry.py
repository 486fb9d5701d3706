"""The area gaia/mcp_registry: the real registry over real files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from actors.mcp.config import HttpServer, StdioServer
from actors.mcp.registry import MCPRegistry


def run(given: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    """One case."""
    _write(tmp_path, given["files"])
    registry = MCPRegistry([tmp_path / "mcp.json", tmp_path / "mcp_servers.json"])
    server_id = given["id"]
    match given["op"]:
        case "resolve":
            return _resolved(registry, server_id)
        case "require":
            registry.require(server_id)
            return _resolved(registry, server_id)
        case "list":
            return {"value": registry.list_servers()}
        case "is_disabled":
            return {"value": registry.is_disabled(server_id)}
        case "config_exists":
            return {"value": registry.config_exists()}
        case "config_path":
            return {"value": registry.config_path().name}
        case "reload":
            before = registry.list_servers()
            _write(tmp_path, given["then_files"])
            kept = registry.list_servers()
            registry.reload()
            return {"value": [before, kept, registry.list_servers()]}
    raise AssertionError(f"unknown op {given['op']!r}")


def _write(directory: Path, files: dict[str, Any]) -> None:
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (directory / name).write_text(text, encoding="utf-8")


def _resolved(registry: MCPRegistry, server_id: str) -> dict[str, Any]:
    """The entry with all its fields, those of the configuration as they were resolved."""
    config = registry.resolve(server_id)
    if config is None:
        return {"absent": True}
    match config.server:
        case StdioServer(command, args, env):
            fields: dict[str, Any] = {"command": command, "args": list(args), "env": dict(env)}
        case HttpServer(url, headers):
            fields = {"url": url} | ({"headers": dict(headers)} if headers else {})
    return {"value": {**registry.entry(server_id), **fields}}
