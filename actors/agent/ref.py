"""The typed reference to an agent: what callers say to it, blocking or awaiting.

Plain methods block and are for threads; their twins with an `a` are awaitable from any event loop.
Calls from many threads wait in the agent's mailbox, one turn runs at a time. A call that would make the
agent wait for itself, through whatever tools and agents, raises `AskCycle`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence
from typing import Any, cast

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
from actors.agent.query import require_content
from actors.agent.result import TurnResult
from actors.config import AgentConfig
from actors.errors import InvalidArgument
from actors.image import Image
from actors.mcp.given_config import GivenServer, config_of
from actors.mcp.registry import MCPRegistry
from actors.model.message import Message, user_message
from actors.model.toolspec import ToolParameter, ToolSpec
from actors.output.events import TurnEvent
from actors.tools.decision import error_result
from actors.tools.tool import Tool
from runtime import ActorRef, Reply

Question = str | Sequence[Message]
"""A question's text, or messages composed by the caller."""


class AgentRef(ActorRef[Any]):
    """A reference to an `Agent`."""

    __slots__ = ()

    # -- turns ------------------------------------------------------------------------------------

    def process_query(
        self,
        question: Question,
        *,
        images: Sequence[Image] = (),
        max_steps: int = 0,
        timeout: float | None = None,
    ) -> TurnResult:
        """Ask the agent and wait for the end of its turn (gaia 1.2).

        `max_steps` above zero replaces the configured limit for this call. A turn that fails by a rule
        (limit, loop, cancel, deadline, model error) is a result, not an exception; see `TurnResult`.

        Raises:
            InvalidArgument: the question says nothing; the agent has not been asked.
            MailboxFull: too many questions wait already.
            ActorDeadError: the agent has ended.
            AskCycle: the caller is a tool or an agent this agent waits for.
            Timeout: `timeout` seconds went by; a turn that has begun goes on, see `cancel`.
        """
        return cast("TurnResult", self.ask(_query(question, images, max_steps), timeout=timeout))

    def aprocess_query(
        self,
        question: Question,
        *,
        images: Sequence[Image] = (),
        max_steps: int = 0,
        timeout: float | None = None,
    ) -> Reply[TurnResult]:
        """The awaitable twin of `process_query`. Cancelling the await cancels the turn."""
        return self.aask(_query(question, images, max_steps), timeout=timeout)

    async def astream(
        self, question: Question, *, images: Sequence[Image] = (), max_steps: int = 0
    ) -> AsyncGenerator[TurnEvent | TurnResult, None]:
        """The events of a turn as they happen, then its `TurnResult`, from any event loop.

        Tokens come among the events if the configuration says `streaming`. Leaving the iteration early
        cancels the turn. Raises as `process_query`.
        """
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[TurnEvent | asyncio.Future[TurnResult]] = asyncio.Queue()

        def tell(event: TurnEvent) -> None:
            try:
                loop.call_soon_threadsafe(queue.put_nowait, event)
            except RuntimeError:
                pass  # the listener's loop was closed: nobody is there, and the turn goes on

        def end(waiting: asyncio.Future[TurnResult]) -> None:
            if not waiting.cancelled():
                waiting.exception()  # seen, also when the stream was left before it came
            queue.put_nowait(waiting)

        # Awaited in a task, so that the wait graph knows of it while this waits for events.
        waiting = asyncio.ensure_future(self.aask(_query(question, images, max_steps, tell)))
        waiting.add_done_callback(end)
        try:
            while not isinstance(item := await queue.get(), asyncio.Future):
                yield item
            yield item.result()
        finally:
            waiting.cancel()

    def cancel(self) -> None:
        """Ask for the end of the turn that runs now; it ends as a result with outcome `cancelled`.

        From any thread; returns at once. The model request is closed and a running tool let go of.
        Questions that wait are not touched; without a running turn nothing happens.
        """
        self.signal(CancelTurn())

    # -- what it remembers --------------------------------------------------------------------------

    def history(self) -> list[Message]:
        """A copy of the stored messages, after a turn that runs now."""
        return cast("list[Message]", self.ask(ReadHistory()))

    def ahistory(self) -> Reply[list[Message]]:
        """The awaitable twin of `history`."""
        return self.aask(ReadHistory())

    def set_history(self, messages: Sequence[Message]) -> None:
        """Replace the stored messages; calls and answers without their other half are dropped."""
        self.ask(WriteHistory(tuple(messages)))

    def clear_history(self) -> None:
        """Forget everything that was said."""
        self.ask(WriteHistory(()))

    # -- how it is set up ---------------------------------------------------------------------------

    def config(self) -> AgentConfig:
        """The present configuration."""
        return cast("AgentConfig", self.ask(ReadConfig()))

    def set_config(self, config: AgentConfig) -> None:
        """Replace the configuration from the next turn on. Raises ConfigError naming the field."""
        self.ask(UpdateConfig({name: getattr(config, name) for name in config.__struct_fields__}))

    def update_config(self, **changes: Any) -> None:
        """Change some settings from the next turn on. Raises ConfigError naming the field."""
        self.ask(UpdateConfig(changes))

    def set_model(self, model: str) -> None:
        """Use another model from the next turn on; it is made ready before its first request."""
        self.update_config(model=model)

    def tools(self) -> list[ToolSpec]:
        """The enabled tools as the model sees them, in name order."""
        return cast("list[ToolSpec]", self.ask(ListTools()))

    def add_tool(self, tool: Tool) -> None:
        """Register one more tool. Raises ToolExists, ToolSchemaError."""
        self.ask(AddTool(tool))

    def remove_tool(self, name: str) -> bool:
        """Take a tool away; False if there is none of that name."""
        return bool(self.ask(RemoveTool(name)))

    # -- MCP servers --------------------------------------------------------------------------------

    def connect_mcp_server(self, name: str, config: GivenServer) -> bool:
        """Use the tools of an MCP server, as `mcp_<name>_<tool>` (gaia 7).

        `config` is a `McpServerConfig`, a `StdioServer` or `HttpServer`, or an object as in a file of MCP
        servers: `{"command": "...", "args": [...], "env": {...}}`. The connection is shared with all agents
        of the system that name an equal configuration, and ends with the last of them. A server that dies
        later is brought back; its calls wait or fail meanwhile.

        Returns whether the server could be reached; if not, a warning says why.

        Raises:
            InvalidArgument: nothing can be started or reached by that configuration.
        """
        return bool(self.ask(ConnectMcp(name, config_of(name, config))))

    def aconnect_mcp_server(self, name: str, config: GivenServer) -> Reply[bool]:
        """The awaitable twin of `connect_mcp_server`."""
        return self.aask(ConnectMcp(name, config_of(name, config)))

    def connect_mcp_server_by_id(self, server_id: str, registry: MCPRegistry | None = None) -> bool:
        """Use the server of that id in the files of MCP servers, under its id (gaia 8).

        Returns as `connect_mcp_server`. Raises MCPRegistryError if there is no such entry or it cannot be
        used. Without `registry` the default files are read.
        """
        config = (registry or MCPRegistry()).require(server_id)
        return self.connect_mcp_server(server_id, config)

    async def aconnect_mcp_server_by_id(
        self, server_id: str, registry: MCPRegistry | None = None
    ) -> bool:
        """The awaitable twin of `connect_mcp_server_by_id`; files are read on a thread."""
        config = await asyncio.to_thread((registry or MCPRegistry()).require, server_id)
        return await self.aconnect_mcp_server(server_id, config)

    def disconnect_mcp_server(self, name: str) -> bool:
        """Use an MCP server no more, and take its tools away; False if there is none of that name."""
        return bool(self.ask(DisconnectMcp(name)))

    def disconnect_all_mcp(self) -> None:
        """Use no MCP server any more."""
        self.ask(DisconnectMcp(None))

    def mcp_servers(self) -> list[str]:
        """The names of the MCP servers in use, in order."""
        return cast("list[str]", self.ask(ListMcp()))

    # -- as a tool ----------------------------------------------------------------------------------

    def as_tool(self, name: str, description: str, *, timeout_s: float | None = None) -> Tool:
        """This agent as a tool of another one: takes a `request`, gives its answer.

        A turn that does not end with an answer is an error result. Two agents that call each other in a
        ring get an error result naming the ring instead of waiting for ever.
        """

        async def ask_agent(args: dict[str, Any]) -> Any:
            result = await self.aprocess_query(args["request"])
            if result.outcome == "answered":
                return {"answer": result.result}
            return error_result(result.result)

        parameter = ToolParameter("request", "string", description="what to ask, in full sentences")
        spec = ToolSpec(name, description, (parameter,))
        return Tool(spec=spec, run=ask_agent, parallel_safe=True, timeout_s=timeout_s)


def _query(question: Question, images: Sequence[Image], max_steps: int, sink: Any = None) -> Query:
    messages: tuple[Message, ...]
    if isinstance(question, str):
        messages = (user_message(question, [image.data_uri for image in images]),)
    elif images:
        raise InvalidArgument(
            "images: expected none beside composed messages; put them into the parts"
        )
    else:
        messages = _composed(question)
    require_content(messages)
    if not isinstance(max_steps, int):
        raise InvalidArgument(f"max_steps: expected a whole number, got {max_steps!r}")
    return Query(messages, max_steps, sink)


def _composed(question: object) -> tuple[Message, ...]:
    if not isinstance(question, Iterable) or isinstance(question, bytes):
        raise InvalidArgument(
            f"a question is a text or a list of messages, got {type(question).__name__}"
        )
    return tuple(question)
