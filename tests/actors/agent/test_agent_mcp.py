"""An agent and its MCP servers: real server programs, a scripted model, a real system."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import msgspec
import pytest

from actors import (
    Agent,
    CallbackApprover,
    InvalidArgument,
    MCPRegistry,
    MCPRegistryError,
    StdioServer,
    Tool,
)
from actors.mcp.config import McpServerConfig
from actors.model.toolspec import ToolSpec
from actors.tools.approval import Approval
from runtime import Supervisor
from tests.actors.agent.mcp_scene import APPROVE, Caller, caller, names, peer, server_pid
from tests.actors.agent.stage import Stage, ask
from tests.actors.mcp.members import become, gone


def test_a_servers_tools_are_the_agents() -> None:
    with Stage(Caller("mcp_files_echo", text="hi \u2764")) as stage:
        agent = caller(stage)
        assert agent.connect_mcp_server("files", peer())
        assert agent.mcp_servers() == ["files"]
        assert "mcp_files_echo" in names(agent)
        spec = next(spec for spec in agent.tools() if spec.name == "mcp_files_echo")
        assert spec.description == "[MCP:files] does echo"
        assert "hi \u2764" in ask(agent).result


def test_a_failed_tool_is_an_error_result() -> None:
    with Stage(Caller("mcp_x_fail")) as stage:
        agent = caller(stage, **APPROVE)
        agent.connect_mcp_server("x", peer())
        ask(agent, max_steps=1)
        told = msgspec.json.decode(agent.history()[-1].content)
        assert told == {"status": "error", "error": "it failed"}


def test_what_is_not_proven_read_only_needs_approval() -> None:
    asked: list[str] = []

    def approve(tool: str, *_: Any) -> Approval:
        asked.append(tool)
        return Approval.DENY

    with Stage(Caller("mcp_x_die")) as stage:
        agent = caller(stage, approver=CallbackApprover(approve))
        agent.connect_mcp_server("x", peer())
        ask(agent)
        assert asked
        assert stage.server.requests


def test_a_server_that_cannot_be_reached_is_false_and_leaves_nothing() -> None:
    with Stage() as stage:
        agent = stage.agent()
        missing = McpServerConfig(StdioServer("no-such-program-anywhere"))
        assert agent.connect_mcp_server("x", missing) is False
        assert agent.connect_mcp_server("y", peer("exits_at_once")) is False
        assert agent.mcp_servers() == []
        assert names(agent) == []


def test_disconnecting_takes_the_tools_away_and_ends_the_server() -> None:
    with Stage() as stage:
        agent = stage.agent()
        agent.connect_mcp_server("one", peer())
        agent.connect_mcp_server("two", peer())
        assert agent.disconnect_mcp_server("one") is True
        assert agent.disconnect_mcp_server("one") is False
        assert {name.split("_")[1] for name in names(agent)} == {"two"}
        agent.disconnect_all_mcp()
        assert agent.mcp_servers() == []
        assert names(agent) == []


def test_a_name_can_mean_another_server_later() -> None:
    with Stage() as stage:
        agent = stage.agent()
        agent.connect_mcp_server("x", peer())
        agent.connect_mcp_server("x", peer("changes"))
        assert names(agent) == ["mcp_x_pid", "mcp_x_tool_0"]
        agent.connect_mcp_server("x", peer("changes"))
        assert names(agent) == ["mcp_x_pid", "mcp_x_tool_0"]


def test_other_tools_are_the_agents_at_once() -> None:
    with Stage(Caller("mcp_x_tool_0")) as stage:
        agent = caller(stage, **APPROVE)
        agent.connect_mcp_server("x", peer("changes"))
        ask(agent)
        become(lambda: names(agent) == ["mcp_x_pid", "mcp_x_tool_1"])


def test_a_tool_that_cannot_be_is_left_out_and_its_neighbours_stay() -> None:
    with Stage() as stage:
        agent = stage.agent()
        assert agent.connect_mcp_server("x", peer("odd_tools"))
        found = names(agent)
        assert "mcp_x_bare" in found
        assert "mcp_x_unions" in found
        assert "mcp_x_invalid" not in found
        assert "mcp_x_text" not in found
        assert len([name for name in found if name.startswith("mcp_x_a_b")]) == 3
        assert all(len(name) <= 64 for name in found)


def test_tools_with_odd_names_are_called_by_their_own() -> None:
    script = Caller("")
    with Stage(script) as stage:
        agent = caller(stage, **APPROVE)
        agent.connect_mcp_server("x", peer("odd_tools"))
        called = []
        for exposed in names(agent):
            if exposed != "mcp_x_unions":  # which takes arguments
                script.tool = exposed
                called.append(ask(agent).result)
    for tool in ("a.b", "a_b", "a/b", "with space", "\u00fcber\u2764", "x" * 128, "x" * 127 + "y"):
        assert sum(tool == text or f'"{tool}"' in text for text in called) == 1, (tool, called)


def test_a_clash_with_a_tool_of_the_agents_own_is_told_and_the_rest_comes() -> None:
    own = Tool(ToolSpec("mcp_x_echo"), run=lambda _: "mine")
    with Stage() as stage:
        agent = stage.agent(own)
        assert agent.connect_mcp_server("x", peer())
        assert "mcp_x_add" in names(agent)
        agent.disconnect_mcp_server("x")
        assert names(agent) == ["mcp_x_echo"]


def test_a_server_by_its_id(tmp_path: Path) -> None:
    server = peer().server
    assert isinstance(server, StdioServer)
    file = tmp_path / "mcp.json"
    entry = {"command": server.command, "args": list(server.args)}
    file.write_bytes(msgspec.json.encode({"mcpServers": {"mine": {"type": "stdio", **entry}}}))
    registry = MCPRegistry([file])
    with Stage() as stage:
        agent = stage.agent()
        assert agent.connect_mcp_server_by_id("mine", registry)
        assert "mcp_mine_echo" in names(agent)
        with pytest.raises(MCPRegistryError, match="other"):
            agent.connect_mcp_server_by_id("other", registry)


def test_an_agent_is_made_with_servers() -> None:
    with Stage(Caller("mcp_x_echo", text="from the start")) as stage:
        agent = caller(stage, mcp_servers={"x": peer()})
        assert "from the start" in ask(agent).result


def test_a_server_that_is_late_brings_its_tools_later(tmp_path: Path) -> None:
    program = tmp_path / "late"
    with Stage() as stage:
        config = McpServerConfig(StdioServer(str(program)), peer().timeouts)
        agent = stage.agent(setup={"mcp_servers": {"x": config}})
        assert names(agent) == []
        good = peer().server
        assert isinstance(good, StdioServer)
        program.write_text(f"#!/bin/sh\nexec {good.command} {' '.join(good.args)}\n")
        program.chmod(0o755)
        become(lambda: "mcp_x_echo" in names(agent))


def test_a_killed_server_costs_a_call_only_time() -> None:
    with Stage(Caller("mcp_x_echo", text="still here")) as stage:
        agent = caller(stage, **APPROVE, mcp_servers={"x": peer()})
        for _ in range(3):
            assert "still here" in ask(agent).result
            os.kill(server_pid(stage), signal.SIGKILL)


def test_the_server_ends_with_its_last_agent() -> None:
    with Stage() as stage:
        first = stage.agent(setup={"mcp_servers": {"x": peer()}})
        second = stage.agent(setup={"mcp_servers": {"y": peer()}})
        assert names(first)
        assert names(second)
        pid = server_pid(stage)
        first.stop()
        assert not gone(pid)
        second.stop()
        become(lambda: gone(pid))


def test_an_agent_that_is_restarted_has_its_servers_again() -> None:
    with Stage() as stage:
        supervisor = stage.system.spawn(Supervisor)
        agent = Agent.spawn(
            stage.system,
            stage.config(),
            mcp_servers={"x": peer()},
            supervisor=supervisor,
            restart="permanent",
        )
        assert "mcp_x_echo" in names(agent)
        supervisor.restart_child(agent)
        assert "mcp_x_echo" in names(agent)


def test_a_server_may_be_given_as_in_a_file() -> None:
    server = peer().server
    assert isinstance(server, StdioServer)
    with Stage() as stage:
        agent = stage.agent()
        given = {"command": server.command, "args": list(server.args), "env": {"KEY": 5}}
        assert agent.connect_mcp_server("entry", given)
        assert agent.connect_mcp_server("server", server)
        assert agent.mcp_servers() == ["entry", "server"]


@pytest.mark.parametrize(
    ("name", "given", "why"),
    [
        ("", {"command": "x"}, "expected a text, not empty"),
        ("x", {}, "MCP server 'x'.*command"),
        ("x", {"command": "c", "args": "text"}, "args"),
        ("x", "npx server", "expected a McpServerConfig"),
    ],
)
def test_what_is_no_configuration_is_refused_in_the_callers_thread(
    name: str, given: Any, why: str
) -> None:
    with Stage() as stage:
        agent = stage.agent()
        with pytest.raises(InvalidArgument, match=why):
            agent.connect_mcp_server(name, given)
        with pytest.raises(InvalidArgument, match=why):
            stage.agent(setup={"mcp_servers": {name: given}})
