"""Our client with real MCP servers over Streamable HTTP, of both eras, alone and from agents."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from actors.errors import McpProtocolError, McpTimeout
from actors.mcp.config import HttpServer as Address
from actors.mcp.config import McpServerConfig
from actors.mcp.progress import Progress
from tests.actors.agent.mcp_scene import APPROVE, Caller, caller, names
from tests.actors.agent.stage import Stage, ask
from tests.actors.mcp.members import become
from tests.actors.mcp.sessions import PATIENT, Heard, on_loop, opened, text_of
from tests.mcp_servers import McpServers
from tests.real.mcp_http import HttpServer, everything_http, modern_http

pytestmark = [pytest.mark.real, pytest.mark.time_limit(120)]


def config(server: HttpServer, **limits: float) -> McpServerConfig:
    """The configuration of a server."""
    return McpServerConfig(Address(server.url), replace(PATIENT, **limits))


@on_loop
async def test_everything_is_legacy_and_has_sessions(servers: McpServers, tmp_path: Path) -> None:
    news: list[Progress] = []
    with everything_http(servers, tmp_path) as server:
        async with opened(config(server)) as session:
            assert session.agreed.revision == "2025-11-25"
            assert len(await session.list_tools()) >= 13
            assert "hi \u2764" in text_of(await session.call_tool("echo", {"message": "hi \u2764"}))
            structured = await session.call_tool("get-structured-content", {"location": "New York"})
            assert structured["structuredContent"]
            image = await session.call_tool("get-tiny-image", {})
            assert any(block["type"] == "image" for block in image["content"])
            await session.call_tool(
                "trigger-long-running-operation",
                {"duration": 1, "steps": 4},
                on_progress=news.append,
            )
            assert [each.progress for each in news] == [1, 2, 3, 4]
            with pytest.raises(McpTimeout):
                await session.call_tool(
                    "trigger-long-running-operation", {"duration": 30, "steps": 1}, within=0.3
                )
            assert "on" in text_of(await session.call_tool("echo", {"message": "on"}))
        await asyncio.to_thread(wait_for_log, server, "session termination")


def wait_for_log(server: HttpServer, text: str) -> None:
    """Until the server has written that."""
    become(lambda: text in server.log.lower())


@on_loop
async def test_a_legacy_server_that_was_restarted_has_a_new_session(
    servers: McpServers, tmp_path: Path
) -> None:
    heard = Heard()
    with everything_http(servers, tmp_path) as server:
        async with opened(config(server), events=heard.events) as session:
            await session.call_tool("echo", {"message": "before"})
            await asyncio.to_thread(server.kill)
            await asyncio.to_thread(server.start)
            assert "after" in text_of(await session.call_tool("echo", {"message": "after"}))
            assert session.alive
            assert not heard.losses


@on_loop
async def test_the_official_server_is_modern(servers: McpServers, tmp_path: Path) -> None:
    news: list[Progress] = []
    with modern_http(servers, tmp_path) as server:
        async with opened(config(server)) as session:
            assert session.agreed.revision == "2026-07-28"
            assert {tool["name"] for tool in await session.list_tools()} == {
                "echo",
                "slow",
                "failing",
            }
            assert text_of(await session.call_tool("echo", {"text": "gr\u00fcn \u2764"})) == (
                "gr\u00fcn \u2764"
            )
            await session.call_tool("slow", {"seconds": 0.2}, on_progress=news.append)
            assert [each.progress for each in news] == list(range(1, 11))
            failed = await session.call_tool("failing", {})
            assert failed["isError"] is True
            await asyncio.to_thread(server.kill)
            await asyncio.to_thread(server.start)
            assert text_of(await session.call_tool("echo", {"text": "again"})) == "again"
            with pytest.raises(McpTimeout):  # last: a ping follows, and no server may die under it
                await session.call_tool("slow", {"seconds": 1000}, within=0.3)
            assert text_of(await session.call_tool("echo", {"text": "on"})) == "on"


@on_loop
async def test_twenty_megabytes_and_many_at_once(servers: McpServers, tmp_path: Path) -> None:
    with modern_http(servers, tmp_path) as server:
        async with opened(config(server)) as session:
            text = "\u2764" * 1_000_000
            assert text_of(await session.call_tool("echo", {"text": text})) == text
            texts = [str(number) for number in range(50)]
            results = await asyncio.gather(
                *(session.call_tool("echo", {"text": text}) for text in texts)
            )
            assert [text_of(result) for result in results] == texts


@on_loop
async def test_an_address_that_is_no_endpoint_is_told(servers: McpServers, tmp_path: Path) -> None:
    with modern_http(servers, tmp_path) as server:
        wrong = McpServerConfig(Address(server.url + "/nothing"), PATIENT)
        with pytest.raises(McpProtocolError, match="is the url that of an MCP endpoint"):
            async with opened(wrong):
                pass


def test_agents_share_a_connection_that_comes_back(servers: McpServers, tmp_path: Path) -> None:
    script = Caller("mcp_x_echo", text="one")
    with modern_http(servers, tmp_path) as server, Stage(script) as stage:
        using: dict[str, Any] = {**APPROVE, "mcp_servers": {"x": config(server)}}
        agents = [caller(stage, **using) for _ in range(10)]
        assert all("mcp_x_echo" in names(agent) for agent in agents)
        assert all("one" in ask(agent).result for agent in agents)
        server.kill()
        script.args = {"text": "gone"}
        ask(agents[0], max_steps=1)
        assert "cannot connect" in str(agents[0].history()[-1].content)
        server.start()
        script.args = {"text": "two"}
        assert all("two" in ask(agent).result for agent in agents)


def test_an_agent_of_a_legacy_server_does_not_notice_its_restart(
    servers: McpServers, tmp_path: Path
) -> None:
    script = Caller("mcp_x_echo", message="one")
    with everything_http(servers, tmp_path) as server, Stage(script) as stage:
        agent = caller(stage, **APPROVE, mcp_servers={"x": config(server)})
        assert "one" in ask(agent).result
        server.kill()
        server.start()
        script.args = {"message": "two"}
        assert "two" in ask(agent).result
