"""The standard tree of a daemon: what agents stand on, then the agents, under supervisors that bring them back.

    with ActorSystem() as system:
        tree = plant(system)
        tree.spawn_agent(AgentConfig(...), name="clerk", tools=[...])
        system.run_until_signal()

Order of start: the model gateway, the tool executor (both under `/services`), the supervisor of agents;
stopped in reverse. A script with one agent needs none of it: `Agent.spawn` starts what it needs itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from actors.agent.agent import Agent
from actors.agent.ref import AgentRef
from actors.config import AgentConfig
from actors.model.gateway import ModelGateway, model_gateway
from actors.tools.executor import ToolExecutor, tool_executor
from actors.tools.tool import Tool
from runtime import ActorRef, ActorSystem, Backoff, Supervisor, SupervisorRef

MAX_RESTARTS = 100
"""Restarts of agents within `WINDOW_S` before their supervisor gives up; they are independent of each other."""

WINDOW_S = 60.0


class Tree(Struct, frozen=True):
    """The parts of a standard tree."""

    system: ActorSystem
    models: ActorRef[ModelGateway]
    tools: ActorRef[ToolExecutor]
    agents: SupervisorRef

    def spawn_agent(
        self, config: AgentConfig, *, name: str, tools: Iterable[Tool] = (), **setup: Any
    ) -> AgentRef:
        """An agent that is restarted when it fails, with a delay that grows; `setup` as `Agent.spawn`."""
        return Agent.spawn(
            self.system,
            config,
            name=name,
            tools=tools,
            supervisor=self.agents,
            restart="transient",
            **setup,
        )


def plant(system: ActorSystem) -> Tree:
    """Start the standard tree in a system. Raises NameTaken if it has one."""
    return Tree(
        system=system,
        models=model_gateway(system),
        tools=tool_executor(system),
        agents=system.spawn(
            Supervisor,
            max_restarts=MAX_RESTARTS,
            window=WINDOW_S,
            backoff=Backoff(),
            name="agents",
            restart="permanent",
        ),
    )
