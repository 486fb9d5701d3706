"""The MCP hub: one actor per system that shares connections between those who name equal configurations.

A server has one connection however many agents use it: `/services/mcp/<name>`, a supervisor, and below it
the connection. It begins with the first member that joins and ends when the last one leaves or dies. A
connection that fails too often stays down; the next who asks begins it anew.
"""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar, Final, cast

from msgspec import Struct

from actors.errors import AgentError, McpConnectionLost, McpTimeout
from actors.mcp.channel import EraMemory
from actors.mcp.config import McpServerConfig
from actors.mcp.connection import McpConnection, Opened, OpenSession, ToolsListed
from actors.mcp.hooks import NO_HOOKS, McpHooks
from runtime import (
    Actor,
    ActorDeadError,
    ActorRef,
    ActorSystem,
    Backoff,
    Reply,
    Supervisor,
    SupervisorRef,
    Terminated,
)

MAX_RESTARTS: Final = 5
"""Restarts of a connection within `WINDOW_S` seconds before it stays down until somebody asks."""

WINDOW_S: Final = 60.0

BACKOFF: Final = Backoff(initial=0.2, maximum=10.0)


class ServerKey(Struct, frozen=True):
    """What must be equal for a connection to be shared."""

    config: McpServerConfig
    hooks: McpHooks = NO_HOOKS


class Join(Struct, frozen=True):
    """Use a server; the answer is a `Joined` once it is ready, or the `McpError` of the try.

    `member` is who uses it: it gets `ToolsChanged` as a signal, and its death is its leaving. `name` is
    what the server is called in messages. Joining again is harmless, and begins a connection anew that is
    down. After an error the member belongs to it all the same, until it leaves.
    """

    name: str
    key: ServerKey
    member: ActorRef[Any]


class Leave(Struct, frozen=True):
    """Use a server no more."""

    key: ServerKey
    member: ActorRef[Any]


class Joined(Struct, frozen=True):
    """A connection, and its present session. Ask the connection for a later one."""

    connection: ActorRef[McpConnection]
    opened: Opened


class ToolsChanged(Struct, frozen=True):
    """A signal to members: the server lists these tools now."""

    key: ServerKey
    opened: Opened


class _Shared:
    """One server: its supervisor and connection, and who uses it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.era = EraMemory()
        self.members: set[ActorRef[Any]] = set()
        self.supervisor: SupervisorRef | None = None
        self.connection: ActorRef[McpConnection] | None = None


class McpHub(Actor):
    """See the module."""

    expected_errors: ClassVar[tuple[type[BaseException], ...]] = (AgentError,)
    cancel_on_stop: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        self._servers: dict[ServerKey, _Shared] = {}
        self._begun = 0

    def on_receive(self, message: Any) -> Any:
        """Share connections; nobody waits for another's."""
        match message:
            case Join():
                return self.background(self._join(message), label="join")
            case Leave(key, member):
                return self._leave(key, member)
            case ToolsListed():
                return self._listed(message)
            case Terminated(ref, _):
                for key in [*self._servers]:
                    self._leave(key, ref)
                return None
        return super().on_receive(message)

    # -- members ----------------------------------------------------------------------------------

    async def _join(self, message: Join) -> Joined:
        shared = self._servers.setdefault(message.key, _Shared(message.name))
        shared.members.add(message.member)
        self.watch(message.member)
        connection = self._connection(message.key, shared)
        limit = 2 * message.key.config.timeouts.handshake
        return Joined(connection, await opened_by(message.name, connection, limit))

    def _leave(self, key: ServerKey, member: ActorRef[Any]) -> None:
        shared = self._servers.get(key)
        if shared is None or member not in shared.members:
            return
        shared.members.discard(member)
        if not any(member in other.members for other in self._servers.values()):
            self.unwatch(member)
        if not shared.members:
            del self._servers[key]
            self._end(shared)

    def _listed(self, message: ToolsListed) -> None:
        for key, shared in self._servers.items():
            if shared.connection == message.connection:
                for member in shared.members:
                    member.signal(ToolsChanged(key, message.opened))

    # -- connections ------------------------------------------------------------------------------

    def _connection(self, key: ServerKey, shared: _Shared) -> ActorRef[McpConnection]:
        """The living connection to a server; begun, or begun anew, where there is none."""
        if shared.connection is not None and shared.connection.is_alive():
            return shared.connection
        self._begun += 1
        name = f"{shared.name}-{self._begun}"
        supervisor = self.system.spawn(
            Supervisor,
            max_restarts=MAX_RESTARTS,
            window=WINDOW_S,
            backoff=BACKOFF,
            name=f"mcp-server {name}",
            supervisor=servers_of(self.system),
        )
        connection = self.system.spawn(
            McpConnection,
            shared.name,
            key.config,
            key.hooks,
            shared.era,
            self.actor_ref,
            name=f"mcp {name}",
            supervisor=supervisor,
            restart="permanent",
            shutdown=3 * key.config.timeouts.shutdown + 2.0,
        )
        shared.supervisor, shared.connection = supervisor, connection
        return cast("ActorRef[McpConnection]", connection)

    def _end(self, shared: _Shared) -> None:
        if shared.supervisor is not None:
            shared.supervisor.astop(mode="now")

    async def on_stop(self) -> None:
        """End all connections."""
        supervisors = [each.supervisor for each in self._servers.values() if each.supervisor]
        await asyncio.gather(*(_stopped(each) for each in supervisors))

    async def on_failure(self, *_: object) -> None:
        """End all connections: their members join again with their next calls."""
        await self.on_stop()


async def _stopped(supervisor: SupervisorRef) -> None:
    await supervisor.astop(mode="now")


async def opened_by(name: str, connection: ActorRef[McpConnection], limit: float) -> Opened:
    """The present session of a connection, once it is ready; `limit` is in seconds. Raises McpError."""
    try:
        async with asyncio.timeout(limit):
            while True:
                try:
                    return cast("Opened", await connection.aask(OpenSession()))
                except ActorDeadError as error:
                    if not connection.is_alive():
                        raise McpConnectionLost(f"server {name!r} is down: {error}") from error
                    # Only this incarnation ended: the next one answers.
    except TimeoutError as error:
        raise McpTimeout(f"server {name!r} was not ready within {limit:g} s") from error


def servers_of(system: ActorSystem) -> SupervisorRef:
    """The supervisor of all MCP servers of a system, started when it is first needed."""
    return cast("SupervisorRef", system.ensure(Supervisor, name="mcp"))


def mcp_hub(system: ActorSystem) -> ActorRef[McpHub]:
    """The hub that all agents of a system share, started when it is first needed."""
    servers_of(system)  # first, so that it outlives the hub
    return system.ensure(McpHub, name="mcp-hub")


def joined(system: ActorSystem, name: str, key: ServerKey, member: ActorRef[Any]) -> Reply[Joined]:
    """Join a server through the system's hub; await it on the loop."""
    return cast("Reply[Joined]", mcp_hub(system).aask(Join(name, key, member)))
