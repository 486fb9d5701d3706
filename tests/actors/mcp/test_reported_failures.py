"""What users of other MCP clients report, numbered as in spec/mcp.md section 6: none of it happens here.

Seen from an agent, or from the one who owns a session, with real servers. The parts have tests of their own.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from actors import McpConnectionLost, McpTimeout, StdioServer
from actors.mcp.config import McpServerConfig
from actors.mcp.process_group import group_runs
from actors.mcp.results import tool_output
from tests.actors.agent.mcp_scene import APPROVE, Caller, caller, names, peer, server_pid
from tests.actors.agent.stage import Stage, ask
from tests.actors.mcp.members import become, gone
from tests.actors.mcp.sessions import (
    SERVERS,
    bad_server,
    new_session,
    on_loop,
    opened,
    seen_by,
    server_config,
    text_of,
)


def test_1_a_server_that_dies_in_a_call_or_never_begins_holds_nobody_up() -> None:
    with Stage(Caller("mcp_x_die")) as stage:
        agent = caller(stage, **APPROVE)
        assert agent.connect_mcp_server("mute", peer("never_initializes", handshake=0.5)) is False
        assert agent.connect_mcp_server("x", peer())
        result = ask(agent, max_steps=1)
        assert result.outcome != "answered"
        told = str(agent.history()[-1].content)
        assert "exited with status 3" in told
        assert "I die" in told


def test_2_a_dead_server_is_replaced_once_for_all_and_keeps_its_tools() -> None:
    script = Caller("mcp_x_pid")
    with Stage(script) as stage:
        agents = [caller(stage, **APPROVE, mcp_servers={"x": peer()}) for _ in range(5)]
        for _ in range(3):
            before = [names(agent) for agent in agents]
            pid = server_pid(stage)
            os.kill(pid, signal.SIGKILL)
            pids = {ask(agent).result for agent in agents}
            assert len(pids) == 1
            assert str(pid) not in pids
            assert [names(agent) for agent in agents] == before
            become(lambda pid=pid: gone(pid))  # type: ignore[misc]


def test_4_a_banner_and_a_log_on_the_output_are_skipped() -> None:
    with Stage(Caller("mcp_x_echo", text="through the noise")) as stage:
        assert "through the noise" in ask(caller(stage, mcp_servers={"x": peer("banner")})).result


def test_5_a_result_of_megabytes_comes_whole() -> None:
    with Stage(Caller("mcp_x_big", n=3_000_000)) as stage:
        agent = caller(stage, **APPROVE, mcp_servers={"x": peer()})
        assert ask(agent).outcome == "answered"


@on_loop
async def test_6_a_megabyte_of_log_does_not_block_the_server() -> None:
    loud = f"import sys; sys.stderr.write('log\\n' * 300_000); sys.path.insert(0, {str(SERVERS.parent)!r}); "
    command = loud + "from servers.peer import Peer; Peer().run()"
    config = replace(
        server_config("peer"), server=StdioServer(sys.executable, ("-S", "-E", "-c", command))
    )
    async with opened(config) as session:
        assert text_of(await session.call_tool("echo", {"text": "x"})) == "x"


@on_loop
async def test_7_no_process_is_left_of_a_wrapped_server() -> None:
    inner = bad_server("peer")
    script = f'sleep 1000 & "{inner.command}" {" ".join(inner.args)}; true'
    config = replace(server_config("peer", shutdown=0.3), server=StdioServer("sh", ("-c", script)))
    async with opened(config) as session:
        group = session.transport.pid  # type: ignore[attr-defined]
        inside = int(text_of(await session.call_tool("pid", {})))
        assert inside != group
    become(lambda: gone(inside))
    assert not group_runs(group)


def test_8_all_pages_are_listed_and_a_circle_of_them_ends() -> None:
    with Stage() as stage:
        agent = caller(stage)
        assert agent.connect_mcp_server("x", peer("pages", "endless"))
        assert len(names(agent)) == 10_000


@on_loop
async def test_9_progress_keeps_a_long_call_alive() -> None:
    async with opened(server_config("peer", call=1.0)) as session:
        assert text_of(await session.call_tool("progress", {"n": 15})) == "done"


@on_loop
async def test_10_a_timeout_is_told_to_the_server_and_costs_only_that_call() -> None:
    async with opened(server_config("peer")) as session:
        pid = text_of(await session.call_tool("pid", {}))
        with pytest.raises(McpTimeout):
            await session.call_tool("sleep", {"n": 5}, within=0.1)
        assert text_of(await session.call_tool("pid", {})) == pid
        assert len((await seen_by(session))["cancelled"]) == 1


@on_loop
async def test_11_sessions_may_be_closed_by_other_tasks_in_any_order() -> None:
    first, second = new_session(server_config("peer")), new_session(server_config("peer"))
    await asyncio.gather(first.open(), second.open())
    for session in (first, second):
        await asyncio.ensure_future(session.aclose())
        await session.aclose()
    with pytest.raises(McpConnectionLost):
        await first.call_tool("echo", {"text": "x"})


def test_12_odd_and_clashing_names_are_made_fit() -> None:
    with Stage() as stage:
        agent = caller(stage, mcp_servers={"x": peer("odd_tools"), "y z": peer("odd_tools")})
        found = names(agent)
        assert len(found) == len(set(found))
        assert all(len(name) <= 64 and name.isascii() and " " not in name for name in found)


@on_loop
async def test_13_structured_content_alone_is_not_empty() -> None:
    async with opened(server_config("peer")) as session:
        assert tool_output(await session.call_tool("structured", {})) == {"answer": 42}


@on_loop
async def test_14_variables_are_added_to_the_environment(tmp_path: Path) -> None:
    server = bad_server("peer")
    given = replace(server, env=(("KEY", "\u00fc"),), cwd=str(tmp_path))
    async with opened(replace(server_config("peer"), server=given)) as session:
        variables = text_of(await session.call_tool("env", {}))
        assert text_of(await session.call_tool("cwd", {})) == str(tmp_path)
    assert '"KEY": "\\u00fc"' in variables
    assert '"PATH"' in variables
    with pytest.raises(McpConnectionLost, match=r"no-such-program.*PATH"):
        await new_session(McpServerConfig(StdioServer("no-such-program"))).open()


@pytest.mark.parametrize("server", ["peer", "silent_on_probe", "exits_on_probe", "modern"])
def test_15_old_and_new_servers_are_both_spoken_to(server: str) -> None:
    with Stage(Caller("mcp_x_echo", text="understood")) as stage:
        agent = caller(stage, mcp_servers={"x": peer(server, probe=2.0)})
        assert "understood" in ask(agent).result


def test_17_other_tools_are_seen_in_the_same_turn() -> None:
    with Stage(Caller("mcp_x_tool_0")) as stage:
        agent = caller(stage, **APPROVE, mcp_servers={"x": peer("changes")})
        ask(agent)
        become(lambda: "mcp_x_tool_1" in names(agent) and "mcp_x_tool_0" not in names(agent))
