"""Agents that call the tools of MCP servers by a script, for the tests."""

from __future__ import annotations

from typing import Any

import msgspec

from actors import AgentRef, CallbackApprover
from actors.mcp.config import McpServerConfig
from actors.mcp.connection import McpConnection, ReadState
from actors.testing import RecordedRequest, answer, tool_calls
from actors.testing.replies import Reply
from actors.tools.approval import Approval
from tests.actors.agent.stage import Stage
from tests.actors.mcp.members import become
from tests.actors.mcp.sessions import server_config

QUICK = {"shutdown": 0.3, "ping": 0.3}


def peer(name: str = "peer", *args: str, **limits: float) -> McpServerConfig:
    """One of the servers of the tests, with short limits."""
    return server_config(name, *args, **(QUICK | limits))


def names(agent: AgentRef) -> list[str]:
    """The agent's tools."""
    return [spec.name for spec in agent.tools()]


class Caller:
    """A script: each question becomes one call of `tool`, and its result the answer."""

    def __init__(self, tool: str, **args: Any) -> None:
        self.tool = tool
        self.args = args

    def __call__(self, request: RecordedRequest) -> Reply:
        last = request.json["messages"][-1]
        if last["role"] == "tool":
            return answer(last["content"])
        return tool_calls(("c1", self.tool, msgspec.json.encode(self.args).decode()))


def caller(stage: Stage, **setup: Any) -> AgentRef:
    """An agent that calls tools natively."""
    return stage.agent(setup=setup, native_tool_calls="always")


APPROVE = {"approver": CallbackApprover(lambda *_: Approval.ALLOW_ONCE)}


def server_pid(stage: Stage) -> int:
    """The process of the one server of a stage."""
    refs = [ref for ref in _all(stage.system.root) if issubclass(ref.actor_class, McpConnection)]
    become(lambda: refs[0].ask(ReadState()).state == "ready")
    pid = refs[0].ask(ReadState()).pid
    assert isinstance(pid, int)
    return pid


def _all(supervisor: Any) -> list[Any]:
    found = []
    for child in supervisor.which_children():
        found.append(child.ref)
        if child.supervisor:
            found += _all(child.ref)
    return found
