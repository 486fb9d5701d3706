"""An agent: an actor that answers questions with a model and tools, one turn at a time.

    with ActorSystem() as system:
        agent = Agent.spawn(system, AgentConfig(model="my-model"), tools=[add])
        print(agent.process_query("What is 2 + 3?").result)

What it says and hears is in `AgentRef`; how a turn runs in `actors.agent.turn`. The agent owns its
conversation and its tools and nothing else: connections, threads and model servers belong to actors it
shares with every agent of the system. While a turn runs the mailbox waits, so two requests can never
run at once; cancelling does not wait.

The history lives as long as the incarnation: an agent restarted by its supervisor begins anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, cast

from msgspec import Struct
from structlog.contextvars import bound_contextvars

from actors.agent.cancel import CancelToken
from actors.agent.conversation import Conversation
from actors.agent.mcp_side import McpSide
from actors.agent.messages import (
    AddTool,
    CancelTurn,
    ConnectMcp,
    DisconnectMcp,
    ListMcp,
    ListTools,
    Query,
    ReadConfig,
    ReadHistory,
    RemoveTool,
    UpdateConfig,
    WriteHistory,
)
from actors.agent.model_side import open_provider, protocol_for, rules_for
from actors.agent.parts import TurnParts
from actors.agent.prompt_cache import PromptCache
from actors.agent.readiness import ModelReadiness
from actors.agent.ref import AgentRef
from actors.agent.result import TurnResult
from actors.agent.turn import Turn
from actors.config import AgentConfig
from actors.errors import AgentError
from actors.mcp.config import McpServerConfig
from actors.mcp.given_config import GivenServer, config_of
from actors.mcp.hooks import NO_HOOKS, McpHooks
from actors.mcp.hub import ToolsChanged
from actors.model.gateway import SharedProvider
from actors.model.message import Message
from actors.model.provider import ModelProvider
from actors.output.dispatch import publish_to
from actors.output.events import EventSink, TurnEvent
from actors.output.handler import OutputHandler
from actors.tools.allow_store import AllowStore
from actors.tools.approval import Approver
from actors.tools.executor import tool_executor
from actors.tools.registry import ToolRegistry
from actors.tools.runner import RegistryRunner
from actors.tools.tool import Tool
from runtime import Actor, ActorRef, ActorSystem
from runtime.childspec import Restart


class AgentSetup(Struct, frozen=True):
    """What an agent is made of besides its configuration.

    * `tools`: what it may call.
    * `system_prompt`: its own prompt; tools and the reply format are added to it.
    * `output`: prints what happens; None prints nothing.
    * `approver`: who is asked before a tool with the policy CONFIRM runs; None refuses it (fail closed).
    * `allow_store`: remembers "always allow"; None remembers nothing.
    * `provider`: a model provider of the caller's own, instead of the one the configuration names. It is
      used on the system's loop and closed by nobody here.
    * `history`: what was said before.
    * `mcp_servers`: names and configurations of MCP servers whose tools it has from its start.
    * `mcp_hooks`: who answers what these servers ask.
    """

    tools: tuple[Tool, ...] = ()
    system_prompt: str = ""
    output: OutputHandler | None = None
    approver: Approver | None = None
    allow_store: AllowStore | None = None
    provider: ModelProvider | None = None
    history: tuple[Message, ...] = ()
    mcp_servers: tuple[tuple[str, McpServerConfig], ...] = ()
    mcp_hooks: McpHooks = NO_HOOKS


class Agent(Actor):
    """See the module. `capacity`: at most 1,000 questions wait; one more is refused with `MailboxFull`."""

    ref_class: ClassVar[type[ActorRef[Any]]] = AgentRef
    capacity: ClassVar[int | None] = 1000
    expected_errors: ClassVar[tuple[type[BaseException], ...]] = (AgentError,)
    cancel_on_stop: ClassVar[bool] = True

    def __init__(self, config: AgentConfig, setup: AgentSetup | None = None) -> None:
        """Raises ConfigError, ToolExists or ToolSchemaError in the caller of `spawn`."""
        super().__init__()
        self._setup = setup or AgentSetup()
        self._config = config
        self._registry = ToolRegistry()
        for tool in self._setup.tools:
            self._registry.register(tool)
        self._conversation = Conversation(self._setup.history)
        self._print: EventSink | None = None
        if self._setup.output is not None:
            self._print = publish_to(self._setup.output)
        self._parts: TurnParts | None = None
        self._shared: SharedProvider | None = None
        self._readiness = ModelReadiness()
        self._cancel: CancelToken | None = None
        self._turns = 0
        self._mcp: McpSide | None = None

    @classmethod
    def spawn(
        cls,
        system: ActorSystem,
        config: AgentConfig,
        *,
        tools: Iterable[Tool] = (),
        system_prompt: str = "",
        output: OutputHandler | None = None,
        approver: Approver | None = None,
        allow_store: AllowStore | None = None,
        provider: ModelProvider | None = None,
        history: Sequence[Message] = (),
        mcp_servers: Mapping[str, GivenServer] = MappingProxyType({}),
        mcp_hooks: McpHooks = NO_HOOKS,
        name: str | None = None,
        supervisor: ActorRef[Any] | None = None,
        restart: Restart = "temporary",
    ) -> AgentRef:
        """Start an agent in a system; see `AgentSetup` for what the arguments mean.

        `supervisor` and `restart` are those of `ActorSystem.spawn`; `actors.tree` has a supervisor for
        agents that are to come back.

        Raises:
            ConfigError: a setting cannot be; names the field.
            InvalidArgument: an MCP server's configuration cannot be.
            NameTaken, ToolExists, SystemEnded: as they say.
        """
        setup = AgentSetup(
            tools=tuple(tools),
            system_prompt=system_prompt,
            output=output,
            approver=approver,
            allow_store=allow_store,
            provider=provider,
            history=tuple(history),
            mcp_servers=tuple((each, config_of(each, mcp_servers[each])) for each in mcp_servers),
            mcp_hooks=mcp_hooks,
        )
        config.validate()
        ref = system.spawn(cls, config, setup, name=name, supervisor=supervisor, restart=restart)
        return cast("AgentRef", ref)

    # -- life -------------------------------------------------------------------------------------

    async def on_start(self) -> None:
        """Connect the MCP servers it was made with; one that cannot be reached brings its tools later."""
        for name, config in self._setup.mcp_servers:
            await self._mcp_side().connect(name, config, stay=True)

    def on_stop(self) -> None:
        """Leave the MCP servers."""
        if self._mcp is not None:
            self._mcp.disconnect_all()

    def on_failure(self, *_: object) -> None:
        """Leave the MCP servers; a later incarnation comes back to those it was made with."""
        self.on_stop()

    # -- messages ---------------------------------------------------------------------------------

    async def on_receive(self, message: Any) -> Any:
        """Run a turn, or answer about history, settings and tools."""
        match message:
            case Query(messages, max_steps, sink):
                return await self._run_turn(messages, max_steps, sink)
            case ReadHistory():
                return self._conversation.history()
            case WriteHistory(messages):
                return self._conversation.set_history(messages)
            case ReadConfig():
                return self._config
            case UpdateConfig(changes):
                return self._update_config(changes)
            case ListTools():
                return list(self._registry.specs())
            case AddTool(tool):
                return self._registry.register(tool)
            case RemoveTool(name):
                return self._registry.remove(name)
            case ConnectMcp(name, config):
                return await self._mcp_side().connect(name, config)
            case DisconnectMcp(name):
                return self._disconnect_mcp(name)
            case ListMcp():
                return self._mcp.names if self._mcp else []
        return super().on_receive(message)

    def on_signal(self, signal: Any) -> None:
        """End the running turn, or take what an MCP server lists now."""
        match signal:
            case CancelTurn():
                if self._cancel is not None:
                    self._cancel.request()
            case ToolsChanged(key, opened):
                if self._mcp is not None:
                    self._mcp.changed(key, opened)
            case _:
                super().on_signal(signal)

    def _mcp_side(self) -> McpSide:
        if self._mcp is None:
            self._mcp = McpSide(
                self.system, self.actor_ref, self._registry, self._setup.mcp_hooks, self._print
            )
        return self._mcp

    def _disconnect_mcp(self, name: str | None) -> bool:
        if self._mcp is None:
            return False
        if name is not None:
            return self._mcp.disconnect(name)
        self._mcp.disconnect_all()
        return True

    # -- the turn ---------------------------------------------------------------------------------

    async def _run_turn(
        self, messages: Sequence[Message], max_steps: int, sink: EventSink | None
    ) -> TurnResult:
        """Run one turn; what is logged during it says `run=<agent's name>/<number of the turn>`."""
        self._cancel = CancelToken()
        self._turns += 1
        try:
            with bound_contextvars(run=f"{self.actor_ref.name}/{self._turns}"):
                turn = Turn(
                    await self._current_parts(),
                    self._conversation,
                    sink=_both(self._print, sink),
                    cancel=self._cancel,
                    max_steps=max_steps,
                )
                return await turn.run(messages)
        finally:
            self._cancel = None

    async def _current_parts(self) -> TurnParts:
        """What turns have in common until the configuration changes, or the model gateway is restarted."""
        provider = self._setup.provider or await self._shared_provider()
        if self._parts is None or self._parts.provider is not provider:
            self._parts = self._assemble(provider)
        return self._parts

    async def _shared_provider(self) -> ModelProvider:
        if self._shared is None or self._shared.closed:
            self._shared = await open_provider(self.system, self._config)
        return self._shared.provider

    def _assemble(self, provider: ModelProvider) -> TurnParts:
        setup, config = self._setup, self._config
        tools = RegistryRunner(
            self._registry,
            tool_executor(self.system),
            approver=setup.approver,
            store=setup.allow_store,
        )
        protocol = protocol_for(config)
        return TurnParts(
            config=config,
            rules=rules_for(config),
            protocol=protocol,
            provider=provider,
            tools=tools,
            prompt=PromptCache(protocol, setup.system_prompt, tools),
            readiness=self._readiness,
        )

    def _update_config(self, changes: dict[str, Any]) -> None:
        config = self._config.changed(changes)
        if any(getattr(config, name) != getattr(self._config, name) for name in _READY_FOR):
            self._readiness = ModelReadiness()
        self._config, self._parts, self._shared = config, None, None


_READY_FOR = ("provider", "base_url", "api_key", "model", "context_size")
"""The settings a model is made ready for; a change of another one leaves it ready."""


def _both(first: EventSink | None, second: EventSink | None) -> EventSink | None:
    """One sink for two listeners; None when nobody listens, so that no event is built."""
    if first is None or second is None:
        return first or second

    def publish(event: TurnEvent) -> None:
        first(event)
        second(event)

    return publish
