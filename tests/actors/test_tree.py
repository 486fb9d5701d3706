"""The standard tree."""

from __future__ import annotations

import pytest

from actors import Agent, AgentConfig
from actors.testing import ScriptedModelServer, answer
from actors.tree import plant
from runtime import ActorSystem, NameTaken


def test_an_agent_of_the_tree_answers_from_below_its_supervisor() -> None:
    with ScriptedModelServer([answer("hello")]) as server, ActorSystem() as system:
        tree = plant(system)
        config = AgentConfig(provider="openai", base_url=server.base_url, model="m")
        clerk = tree.spawn_agent(config, name="clerk")
        assert clerk.process_query("hi", timeout=10).result == "hello"
        assert clerk.path == "/user/agents/clerk"


def test_what_agents_stand_on_starts_first_and_stops_last() -> None:
    with ActorSystem() as system:
        tree = plant(system)
        tree.spawn_agent(AgentConfig(provider="openai", model="m"), name="clerk")
        names = [ref.name for ref in system.registry.all()]
    assert names.index("model-gateway") < names.index("tool-executor") < names.index("clerk")
    assert tree.models.path.startswith("/services/")


def test_a_system_has_one_standard_tree() -> None:
    with ActorSystem() as system:
        plant(system)
        with pytest.raises(NameTaken, match="agents"):
            plant(system)


def test_an_agent_in_a_script_needs_no_tree() -> None:
    with ScriptedModelServer([answer("hello")]) as server, ActorSystem() as system:
        config = AgentConfig(provider="openai", base_url=server.base_url, model="m")
        assert Agent.spawn(system, config).process_query("hi", timeout=10).result == "hello"
