"""One agent for the time of one command.

`AnswersQueries` is the little of an agent's ref that the commands need, so that they can be tried against a
stand-in; `SessionPlan` is all that makes the agent; `open_agent` makes a real one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

from msgspec import Struct

from actors.agent.agent import Agent
from actors.agent.ref import AgentRef
from actors.agent.result import TurnResult
from actors.config import AgentConfig
from actors.errors import InvalidArgument, McpError
from actors.mcp.config import McpServerConfig
from actors.mcp.hub import Join, ServerKey, mcp_hub
from actors.model.message import Message
from actors.output.handler import OutputHandler
from actors.output.terminal import TerminalHandler
from actors.tools.allow_store import AllowStore
from actors.tools.approval import Approver
from actors.tools.tool import Tool
from runtime import ActorRef
from runtime.system import ActorSystem


class AnswersQueries(Protocol):
    """An agent, as a command sees it. Every method may be called from any thread."""

    def process_query(self, question: str, /) -> TurnResult:
        """Run one turn and wait for its end; a turn that fails by a rule is a result."""

    def cancel(self) -> object:
        """End the running turn soon; without one, nothing."""

    def history(self) -> Sequence[Message]:
        """What was said so far."""

    def clear_history(self) -> object:
        """Forget what was said."""

    def set_model(self, model: str, /) -> object:
        """Answer with another model from the next turn on."""


class SessionPlan(Struct, frozen=True):
    """What the agent of a command is made of. An `approver` of None refuses what needs approval.

    `servers` are MCP servers by name. With `requires_servers` one that cannot be reached is an error before
    the model is asked, since an answer without its tools may be invented; else the agent goes on without it,
    warns, and gets its tools when it can be reached.
    """

    config: AgentConfig
    output: OutputHandler
    tools: tuple[Tool, ...] = ()
    system_prompt: str = ""
    approver: Approver | None = None
    servers: Mapping[str, McpServerConfig] = {}
    requires_servers: bool = True


OpenSession = Callable[[SessionPlan], AbstractContextManager[AnswersQueries]]
"""Makes the agent; leaving the context ends it and all it started."""


class ShownAgent:
    """An agent whose handler shows a wait from the question on, so also while its model is loaded."""

    def __init__(self, ref: AgentRef, output: TerminalHandler) -> None:
        self._ref = ref
        self._output = output
        self.cancel = ref.cancel
        self.history = ref.history
        self.clear_history = ref.clear_history
        self.set_model = ref.set_model

    def process_query(self, question: str, /) -> TurnResult:
        """As the agent's ref; no wait is shown any more when this returns."""
        self._output.start_progress("Waiting for the model")
        try:
            return self._ref.process_query(question)
        finally:
            self._output.stop_progress()


@contextmanager
def open_agent(plan: SessionPlan) -> Iterator[AnswersQueries]:
    """A system with one agent in it; leaving stops the system and all it started.

    Raises:
        AgentError, RuntimeFault: the agent cannot be made as planned.
    """
    required = plan.servers if plan.requires_servers else {}
    with ActorSystem() as system:
        ref = Agent.spawn(
            system,
            plan.config,
            tools=plan.tools,
            system_prompt=plan.system_prompt,
            output=plan.output,
            approver=plan.approver,
            allow_store=AllowStore(),
            mcp_servers={} if required else plan.servers,
            name="agent",
        )
        _connect(system, ref, required)
        yield ShownAgent(ref, plan.output) if isinstance(plan.output, TerminalHandler) else ref


def _connect(system: ActorSystem, ref: AgentRef, servers: Mapping[str, McpServerConfig]) -> None:
    """Give the agent servers that have to be there.

    Joining them in the agent's name first tells why one cannot be reached.

    Raises:
        InvalidArgument: one cannot be reached.
    """
    join_servers(system, ref, servers)
    for name, config in servers.items():
        if not ref.connect_mcp_server(name, config):
            raise InvalidArgument(
                f"MCP server {name!r} ended as soon as it was ready; `greenroom mcp doctor` may tell why"
            )


def join_servers(
    system: ActorSystem, member: ActorRef[Any], servers: Mapping[str, McpServerConfig]
) -> None:
    """Begin servers together, for as long as `member` lives.

    Raises:
        InvalidArgument: one cannot be reached; says why.
    """
    if not servers:
        return
    hub = mcp_hub(system)
    joining = {
        name: hub.aask(Join(name, ServerKey(config), member)) for name, config in servers.items()
    }
    for name, joined in joining.items():
        try:
            joined.get()
        except McpError as error:
            raise InvalidArgument(
                f"MCP server {name!r} cannot be used: {error}; mend it, or run without it"
            ) from error
