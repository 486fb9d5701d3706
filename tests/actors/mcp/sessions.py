"""Sessions with the servers of `servers`, for the tests."""

from __future__ import annotations

import asyncio
import functools
import json
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from actors.errors import McpConnectionLost
from actors.mcp.config import McpServerConfig, McpTimeouts, StdioServer
from actors.mcp.session import McpSession, SessionEvents
from actors.mcp.transports import new_transport

SERVERS = Path(__file__).with_name("servers")

PATIENT = McpTimeouts(
    probe=10.0, handshake=30.0, call=30.0, ceiling=60.0, idle=60.0, ping=10.0, shutdown=1.0
)
"""Limits that nothing healthy reaches on a machine with much to do."""


def on_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """An async test, run on a loop of its own."""

    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        asyncio.run(test(*args, **kwargs))

    return run


def bad_server(name: str, *args: str) -> StdioServer:
    """One of `servers`, started quickly."""
    return StdioServer(sys.executable, ("-S", "-E", str(SERVERS), name, *args))


def server_config(name: str, *args: str, **limits: float) -> McpServerConfig:
    """The configuration of one of `servers`, some limits changed."""
    return McpServerConfig(bad_server(name, *args), replace(PATIENT, **limits))


class Heard:
    """What a session told."""

    def __init__(self) -> None:
        self.losses: list[McpConnectionLost] = []
        self.changes = 0

    def changed(self) -> None:
        """Count it."""
        self.changes += 1

    @property
    def events(self) -> SessionEvents:
        """To be given to a session."""
        return SessionEvents(lost=self.losses.append, tools_changed=self.changed)


def new_session(config: McpServerConfig, **more: Any) -> McpSession:
    """A session with a server that is called `x`."""
    return McpSession("x", config, lambda: new_transport("x", config), **more)


@asynccontextmanager
async def opened(config: McpServerConfig, **more: Any) -> AsyncIterator[McpSession]:
    """An open session, closed at the end."""
    session = new_session(config, **more)
    await session.open()
    try:
        yield session
    finally:
        await session.aclose()


def text_of(result: Any) -> str:
    """The text of a tool's result."""
    return str(result["content"][0]["text"])


async def seen_by(session: McpSession) -> dict[str, Any]:
    """What the server has heard."""
    seen: dict[str, Any] = json.loads(text_of(await session.call_tool("seen", {})))
    return seen
