"""Our client with the real MCP servers over stdio: what they list, answer, tell and refuse."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from actors.errors import McpRefused, McpTimeout
from actors.mcp.config import McpServerConfig, StdioServer, pairs
from actors.mcp.progress import Progress
from tests.actors.agent.mcp_scene import APPROVE, Caller, caller, names, server_pid
from tests.actors.agent.stage import Stage, ask
from tests.actors.mcp.members import become, gone
from tests.actors.mcp.sessions import PATIENT, Heard, on_loop, opened, text_of
from tests.mcp_servers import McpServers, ServerCommand

pytestmark = [pytest.mark.real, pytest.mark.time_limit(120)]


def config(command: ServerCommand, **changes: Any) -> McpServerConfig:
    """The configuration of a real server."""
    server = StdioServer(command.argv[0], command.argv[1:], pairs(command.env))
    return replace(McpServerConfig(server, PATIENT), **changes)


def tool_names(tools: list[dict[str, Any]]) -> set[str]:
    """What is listed."""
    return {tool["name"] for tool in tools}


@on_loop
async def test_everything_is_legacy_and_does_everything(servers: McpServers) -> None:
    news: list[Progress] = []
    async with opened(config(servers.everything(), roots=("file:///tmp",))) as session:
        assert session.agreed.legacy
        tools = tool_names(await session.list_tools())
        assert len(tools) >= 13
        assert "hi \u2764" in text_of(await session.call_tool("echo", {"message": "hi \u2764"}))
        structured = await session.call_tool("get-structured-content", {"location": "New York"})
        assert structured["structuredContent"]
        image = await session.call_tool("get-tiny-image", {})
        assert any(block["type"] == "image" for block in image["content"])
        await session.call_tool(
            "trigger-long-running-operation", {"duration": 1, "steps": 4}, on_progress=news.append
        )
        assert [each.progress for each in news] == [1, 2, 3, 4]
        resources = await session.list_resources()
        assert (await session.read_resource(resources[0]["uri"]))["contents"]
        assert await session.list_resource_templates()
        assert "simple-prompt" in tool_names(await session.list_prompts())
        assert (await session.get_prompt("simple-prompt", {}))["messages"]


@on_loop
async def test_a_long_call_of_everything_is_cancelled(servers: McpServers) -> None:
    async with opened(config(servers.everything())) as session:
        with pytest.raises(McpTimeout):
            await session.call_tool(
                "trigger-long-running-operation", {"duration": 30, "steps": 1}, within=0.3
            )
        assert "still" in text_of(await session.call_tool("echo", {"message": "still"}))


@on_loop
async def test_memory_remembers(servers: McpServers, tmp_path: Path) -> None:
    command = servers.memory(tmp_path / "memory.jsonl")
    entity = {"name": "greenroom", "entityType": "library", "observations": ["has actors"]}
    async with opened(config(command)) as session:
        assert len(await session.list_tools()) == 9
        await session.call_tool("create_entities", {"entities": [entity]})
    async with opened(config(command)) as session:
        found = await session.call_tool("search_nodes", {"query": "greenroom"})
        assert "has actors" in json.dumps(found)


@on_loop
async def test_filesystem_reads_and_refuses(servers: McpServers, tmp_path: Path) -> None:
    text = "\u00fcber \u2764\n" * 200_000
    (tmp_path / "big.txt").write_text(text, encoding="utf-8")
    async with opened(config(servers.filesystem(tmp_path))) as session:
        assert len(await session.list_tools()) == 14
        result = await session.call_tool("read_text_file", {"path": str(tmp_path / "big.txt")})
        assert text_of(result) == text
        outside = await session.call_tool("read_text_file", {"path": "/etc/hostname"})
        assert outside["isError"] is True


@on_loop
async def test_time_is_modern(servers: McpServers) -> None:
    heard = Heard()
    async with opened(config(servers.time()), events=heard.events) as session:
        assert session.agreed.revision == "2026-07-28"
        assert tool_names(await session.list_tools()) == {"get_current_time", "convert_time"}
        now = await session.call_tool("get_current_time", {"timezone": "UTC"})
        assert json.loads(text_of(now))["timezone"] == "UTC"
        wrong = await session.call_tool("get_current_time", {"timezone": "Nowhere/None"})
        assert wrong["isError"] is True
        await session.ping()
        with pytest.raises(McpRefused):
            await session.read_resource("no:such")


@on_loop
async def test_time_can_be_spoken_to_as_legacy(servers: McpServers) -> None:
    async with opened(config(servers.time(), era="legacy")) as session:
        assert session.agreed.revision == "2025-11-25"
        assert await session.call_tool("get_current_time", {"timezone": "UTC"})


@on_loop
async def test_git_shows_a_commit(servers: McpServers, tmp_path: Path) -> None:
    environment = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull}
    identity = ("-c", "user.name=n", "-c", "user.email=n@localhost")
    for arguments in (
        ("init", "-q"),
        (*identity, "commit", "-q", "--allow-empty", "-m", "first one"),
    ):
        await asyncio.to_thread(
            subprocess.run, ["git", *arguments], cwd=tmp_path, check=True, env=environment
        )
    async with opened(config(servers.git(tmp_path))) as session:
        assert session.agreed.revision == "2026-07-28"
        log = await session.call_tool("git_log", {"repo_path": str(tmp_path)})
        assert "first one" in json.dumps(log)


def test_an_agent_uses_real_servers_of_both_eras(servers: McpServers, tmp_path: Path) -> None:
    script = Caller("mcp_time_get_current_time", timezone="UTC")
    connected = {
        "time": config(servers.time()),
        "everything": config(servers.everything()),
        "files": config(servers.filesystem(tmp_path)),
    }
    with Stage(script) as stage:
        agent = caller(stage, **APPROVE, mcp_servers=connected)
        assert len(names(agent)) >= 2 + 13 + 14
        assert "UTC" in ask(agent).result
        script.tool, script.args = "mcp_everything_echo", {"message": "over stdio"}
        assert "over stdio" in ask(agent).result


def test_a_killed_real_server_comes_back(servers: McpServers) -> None:
    script = Caller("mcp_x_echo", message="again")
    with Stage(script) as stage:
        agent = caller(stage, **APPROVE, mcp_servers={"x": config(servers.everything())})
        assert "again" in ask(agent).result
        pid = server_pid(stage)
        os.kill(pid, signal.SIGKILL)
        assert "again" in ask(agent).result
        become(lambda: gone(pid))
