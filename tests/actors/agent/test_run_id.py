"""What is logged during a turn says which turn it was."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from actors import Agent, AgentConfig, Approval, CallbackApprover, ToolPolicy, tool
from actors.testing import ScriptedModelServer, answer, tool_calls
from runtime import ActorSystem


@tool(policy=ToolPolicy.CONFIRM)
def wipe() -> str:
    """Wipe everything."""
    return "wiped"


def nobody_decides(name: str, args: Any) -> Approval:
    raise RuntimeError(f"no decision about {name} {args}")


def test_a_log_line_of_the_second_turn_names_agent_and_turn(
    caplog: pytest.LogCaptureFixture,
) -> None:
    script = [answer("first"), tool_calls(("c1", "wipe", "{}")), answer("second")]
    with ScriptedModelServer(script) as server, ActorSystem() as system:
        config = AgentConfig(
            provider="openai", base_url=server.base_url, model="m", native_tool_calls="always"
        )
        agent = Agent.spawn(
            system, config, tools=[wipe], approver=CallbackApprover(nobody_decides), name="clerk"
        )
        with caplog.at_level(logging.ERROR, "greenroom"):
            agent.process_query("one", timeout=10)
            agent.process_query("two", timeout=10)
    assert [r for r in caplog.messages if "approver_failed" in r and "run='clerk/2'" in r]
