"""A program: our MCP client as the subjects of `mcp_calls`. Prints its figures as one JSON object.

    latency SUBJECT N WARM URL|COMMAND...     microseconds of each tools/call, one after another
    memory N COMMAND...                       KiB of this process per open session
    agents N [COMMAND...]                     KiB of this process per agent; with a command they share it

Subjects: `session` (the client alone), `agent` (as an agent's tool call: gate, executor, the connection that
all share), both also `/uvloop`, and `floor` (asyncio and msgspec by hand, no MCP client at all).
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import msgspec

from tests.benchmarks.mcp_official import echo_of, own_kib

Call = Callable[[str, dict[str, Any]], Awaitable[Any]]
Opened = tuple[list[str], Call]
"""The names of a server's tools, and how to call one."""


def main(arguments: list[str]) -> Any:
    """What the arguments ask for."""
    match arguments:
        case ["latency", subject, calls, warm, *command] if subject.startswith("agent"):
            return latency_of_agent(subject, int(calls), int(warm), command)
        case ["latency", subject, calls, warm, *command]:
            runner = asyncio.Runner(loop_factory=loop_factory(subject))
            with runner:
                return runner.run(latency(subject, int(calls), int(warm), command))
        case ["memory", sessions, *command]:
            return asyncio.run(memory(int(sessions), command))
        case ["agents", agents, *command]:
            return kib_per_agent(int(agents), command)
    raise SystemExit(f"expected latency, memory or agents, got {arguments}")


def loop_factory(subject: str) -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop's, where the subject says so."""
    if not subject.endswith("/uvloop"):
        return None
    import uvloop  # noqa: PLC0415  an optional extra

    return uvloop.new_event_loop


async def latency(subject: str, calls: int, warm: int, command: list[str]) -> list[float]:
    """Microseconds of each call."""
    async with (by_hand if subject == "floor" else as_session)(command) as opened:
        return await timed(calls, warm, command, opened)


async def timed(calls: int, warm: int, command: list[str], opened: Opened) -> list[float]:
    """Microseconds of each call."""
    names, call = opened
    tool, argument = echo_of(names, command)
    taken: list[float] = []
    for number in range(warm + calls):
        began = time.perf_counter()
        await call(tool, {argument: "hi"})
        if number >= warm:
            taken.append((time.perf_counter() - began) * 1e6)
    return taken


def config_of(command: list[str]) -> Any:
    """Legacy over stdio, as the trivial server is; an address by its best."""
    from actors.mcp.config import HttpServer, McpServerConfig, StdioServer  # noqa: PLC0415

    if command[0].startswith("http"):
        return McpServerConfig(HttpServer(command[0]))
    return McpServerConfig(StdioServer(command[0], tuple(command[1:])), era="legacy")


@asynccontextmanager
async def as_session(command: list[str]) -> AsyncIterator[Opened]:
    """`McpSession`."""
    from actors.mcp.session import McpSession  # noqa: PLC0415
    from actors.mcp.transports import new_transport  # noqa: PLC0415

    config = config_of(command)
    session = McpSession("x", config, lambda: new_transport("x", config))
    await session.open()
    try:
        yield [tool["name"] for tool in await session.list_tools()], session.call_tool
    finally:
        await session.aclose()


@asynccontextmanager
async def by_hand(command: list[str]) -> AsyncIterator[Opened]:
    """Lines written and read in turn: no ids looked at, no limits, no errors."""
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    to, back = process.stdin, process.stdout

    async def ask(method: str, params: dict[str, Any]) -> Any:
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        to.write(msgspec.json.encode(request) + b"\n")
        await to.drain()
        return msgspec.json.decode(await back.readline())["result"]

    async def call(tool: str, arguments: dict[str, Any]) -> Any:
        return await ask("tools/call", {"name": tool, "arguments": arguments})

    await ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}})
    yield [tool["name"] for tool in (await ask("tools/list", {}))["tools"]], call
    to.close()
    await process.wait()


def latency_of_agent(subject: str, calls: int, warm: int, command: list[str]) -> list[float]:
    """The same through all that an agent's tool call goes through, in an actor on the system's loop."""
    from runtime import Actor, ActorSystem  # noqa: PLC0415

    class Caller(Actor):
        """Calls, as an agent in its turn does."""

        async def on_receive(self, message: Any) -> Any:
            async with as_agent(self, command) as opened:
                return await timed(calls, warm, command, opened)

        def on_signal(self, signal: Any) -> None:
            """The tools have changed."""

    with ActorSystem(uvloop=subject.endswith("/uvloop")) as system:
        taken: list[float] = system.spawn(Caller).ask(None)
        return taken


@asynccontextmanager
async def as_agent(actor: Any, command: list[str]) -> AsyncIterator[Opened]:
    """The agent's registry and gate, the system's executor, the shared connection."""
    from actors.agent.mcp_side import McpSide  # noqa: PLC0415
    from actors.cli.approving import AlwaysApprove  # noqa: PLC0415
    from actors.mcp.hooks import NO_HOOKS  # noqa: PLC0415
    from actors.tools.executor import tool_executor  # noqa: PLC0415
    from actors.tools.registry import ToolRegistry  # noqa: PLC0415
    from actors.tools.runner import RegistryRunner  # noqa: PLC0415

    registry = ToolRegistry()
    side = McpSide(actor.system, actor.actor_ref, registry, NO_HOOKS, None)
    assert await side.connect("x", config_of(command))
    executor = tool_executor(actor.system)
    runner = RegistryRunner(registry, executor, approver=AlwaysApprove(), store=None)

    async def call(tool: str, arguments: dict[str, Any]) -> Any:
        return await runner.run(f"mcp_x_{tool}", arguments)

    yield [name.removeprefix("mcp_x_") for name in registry.enabled_names()], call


async def memory(sessions: int, command: list[str]) -> float:
    """KiB a session adds; the first one, which loads what all need, is open already."""
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(as_session(command))
        before = own_kib()
        for _ in range(sessions):
            await stack.enter_async_context(as_session(command))
        return (own_kib() - before) / sessions


def kib_per_agent(agents: int, command: list[str]) -> float:
    """KiB an agent adds that waits; with the tools of the server that all of them share, if there is one."""
    from actors import Agent, AgentConfig  # noqa: PLC0415
    from runtime import ActorSystem  # noqa: PLC0415

    servers = {"x": config_of(command)} if command else {}
    with ActorSystem() as system:
        first = Agent.spawn(system, AgentConfig(), mcp_servers=servers)
        first.tools()
        before = own_kib()
        refs = [Agent.spawn(system, AgentConfig(), mcp_servers=servers) for _ in range(agents)]
        tools = {len(ref.tools()) for ref in refs}
        assert len(tools) == 1, tools
        return (own_kib() - before) / agents


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1:])))
