"""An agent remembers with its tools, and another one finds it."""

from __future__ import annotations

import json
from pathlib import Path

from actors import Agent, AgentConfig
from actors.memory import memory_tools, open_memory
from actors.store import STANDARD_TABLES, open_store
from actors.testing import ScriptedModelServer, answer, tool_calls
from runtime import ActorSystem

STORED = (
    "c1",
    "memory_store",
    json.dumps({"text": "The stage is swept at six.", "source": "rules"}),
)
SEARCHED = ("c2", "memory_search", json.dumps({"query": "when is it swept?", "limit": 99}))
EMPTY = ("c3", "memory_search", json.dumps({"query": "  "}))


def test_what_one_agent_stores_another_one_finds(tmp_path: Path) -> None:
    script = [
        tool_calls(STORED),
        answer("Noted."),
        tool_calls(SEARCHED, EMPTY),
        answer("At six."),
    ]
    with ScriptedModelServer(script) as server, ActorSystem() as system:
        store = open_store(system, tmp_path / "a.db", migrations=STANDARD_TABLES)
        tools = memory_tools(open_memory(system, store), collection="house")
        config = AgentConfig(
            provider="openai", base_url=server.base_url, model="m", native_tool_calls="always"
        )
        for question, said in (("remember", "Noted."), ("when?", "At six.")):
            agent = Agent.spawn(system, config, tools=tools)
            assert agent.process_query(question).result == said
        results = [
            json.loads(message["content"])
            for message in server.chats[-1].json["messages"]
            if message["role"] == "tool"
        ]
    assert results[0] == {"results": [{"text": "The stage is swept at six.", "source": "rules"}]}
    assert "says nothing" in results[1]["error"]
