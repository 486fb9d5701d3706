"""The MCP servers that `make test` installs start, and answer `initialize`, each by itself."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.mcp_servers import McpServers, ServerCommand
from tests.real.mcp_http import HttpServer, everything_http, modern_http

pytestmark = [pytest.mark.real, pytest.mark.time_limit(120)]

LIMIT_S = 60.0
LEGACY = "2025-11-25"
ACCEPT = {"Accept": "application/json, text/event-stream"}

CommandFor = Callable[[McpServers, Path], ServerCommand]
ServerFor = Callable[[McpServers, Path], HttpServer]

STDIO: dict[str, CommandFor] = {
    "everything": lambda servers, _: servers.everything(),
    "memory": lambda servers, directory: servers.memory(directory / "memory.json"),
    "filesystem": lambda servers, directory: servers.filesystem(directory),
    "time": lambda servers, _: servers.time(),
    "git": lambda servers, directory: servers.git(repository(directory)),
}
HTTP: dict[str, ServerFor] = {"everything": everything_http, "modern": modern_http}


def repository(directory: Path) -> Path:
    """An empty git repository."""
    path = directory / "repository"
    subprocess.run(["git", "init", "--quiet", str(path)], check=True)
    return path


def initialize() -> dict[str, Any]:
    """The first request of a legacy client."""
    params = {
        "protocolVersion": LEGACY,
        "capabilities": {},
        "clientInfo": {"name": "greenroom-tests", "version": "1"},
    }
    return {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}


def modern(method: str) -> dict[str, Any]:
    """A request of a modern client."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": meta}}


async def exchange(command: ServerCommand, request: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """A server's answer to one request over stdio, and its exit status once its input has ended."""
    process = await asyncio.create_subprocess_exec(
        *command.argv,
        env=os.environ | command.env,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        async with asyncio.timeout(LIMIT_S):
            process.stdin.write(json.dumps(request).encode() + b"\n")
            answer = json.loads(await process.stdout.readline())
            process.stdin.close()
            return answer, await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def answer_in(response: httpx.Response) -> dict[str, Any]:
    """The one message of an HTTP answer, which may be an event stream."""
    response.raise_for_status()
    text = response.text
    if response.headers["Content-Type"].startswith("text/event-stream"):
        text = next(
            line[5:] for line in text.splitlines() if line.startswith("data:") and line[5:].strip()
        )
    found: dict[str, Any] = json.loads(text)
    return found


@pytest.mark.parametrize("name", STDIO)
def test_a_server_answers_initialize_and_ends_with_its_input(
    servers: McpServers, tmp_path: Path, name: str
) -> None:
    command = STDIO[name](servers, tmp_path)
    answer, status = asyncio.run(exchange(command, initialize()))
    assert answer["result"]["protocolVersion"] == LEGACY
    assert "tools" in answer["result"]["capabilities"]
    assert status == 0


@pytest.mark.parametrize("name", ["time", "git"])
def test_the_python_servers_are_modern(servers: McpServers, tmp_path: Path, name: str) -> None:
    command = STDIO[name](servers, tmp_path)
    answer, _ = asyncio.run(exchange(command, modern("server/discover")))
    assert "2026-07-28" in answer["result"]["supportedVersions"]


@pytest.mark.parametrize("name", ["everything", "memory", "filesystem"])
def test_the_javascript_servers_are_legacy(servers: McpServers, tmp_path: Path, name: str) -> None:
    command = STDIO[name](servers, tmp_path)
    answer, _ = asyncio.run(exchange(command, modern("server/discover")))
    assert "error" in answer


@pytest.mark.parametrize("name", HTTP)
def test_a_server_answers_initialize_over_http(
    servers: McpServers, tmp_path: Path, name: str
) -> None:
    with HTTP[name](servers, tmp_path) as server, httpx.Client(trust_env=False) as client:
        response = client.post(server.url, json=initialize(), headers=ACCEPT, timeout=LIMIT_S)
    assert answer_in(response)["result"]["protocolVersion"] == LEGACY
    assert response.headers["Mcp-Session-Id"]


def test_the_modern_server_lists_its_tools_without_a_session(
    servers: McpServers, tmp_path: Path
) -> None:
    headers = ACCEPT | {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}
    with modern_http(servers, tmp_path) as server, httpx.Client(trust_env=False) as client:
        response = client.post(
            server.url, json=modern("tools/list"), headers=headers, timeout=LIMIT_S
        )
    tools = answer_in(response)["result"]["tools"]
    assert [tool["name"] for tool in tools] == ["echo", "slow", "failing"]


@pytest.mark.parametrize("name", HTTP)
def test_a_killed_server_comes_back_at_the_same_address(
    servers: McpServers, tmp_path: Path, name: str
) -> None:
    with HTTP[name](servers, tmp_path) as server:
        url, pid = server.url, server.pid
        server.kill()
        server.start()
        assert server.url == url
        assert server.pid != pid
