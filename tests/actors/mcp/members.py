"""Actors that use MCP servers, for the tests, and what they see."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from actors.mcp.config import McpServerConfig
from actors.mcp.hooks import NO_HOOKS, McpHooks
from actors.mcp.hub import ToolsChanged
from actors.mcp.link import McpLink
from runtime import Actor, ActorRef, ActorSystem
from tests.actors.mcp.sessions import text_of

T = TypeVar("T")

PATIENCE_S = 30.0


class Member(Actor):
    """Runs work on the loop with a link of its own, beside its mailbox, and keeps what it is signalled."""

    def __init__(self, config: McpServerConfig, hooks: McpHooks = NO_HOOKS) -> None:
        super().__init__()
        self._config = config
        self._hooks = hooks
        self._link: McpLink | None = None
        self.changes: list[list[str]] = []

    def on_receive(self, message: Any) -> Any:
        """Run it with the link."""
        if message == "changes":
            return list(self.changes)
        return self.background(message(self.link))

    def on_signal(self, signal: Any) -> None:
        """Keep it."""
        assert isinstance(signal, ToolsChanged)
        self.link.listed(signal.opened)
        self.changes.append(sorted(signal.opened.tools))

    @property
    def link(self) -> McpLink:
        """The link, made on the loop."""
        if self._link is None:
            self._link = McpLink(self.system, "x", self._config, self.actor_ref, self._hooks)
        return self._link


Work = Callable[[McpLink], Awaitable[T]]


def member(system: ActorSystem, config: McpServerConfig) -> ActorRef[Member]:
    """A member of that server."""
    return system.spawn(Member, config)


def do(who: ActorRef[Member], work: Work[T]) -> T:
    """Run work with a member's link and give what it gives."""
    result: T = who.ask(work, timeout=PATIENCE_S)
    return result


def call(who: ActorRef[Member], tool: str, **arguments: Any) -> Any:
    """A member's call of a tool."""
    return do(who, lambda link: link.call(tool, arguments))


def say(who: ActorRef[Member], tool: str, **arguments: Any) -> str:
    """The text of a call's result."""
    return text_of(call(who, tool, **arguments))


async def leave(link: McpLink) -> None:
    """Leave the server."""
    link.leave()


def gone(pid: int) -> bool:
    """Whether a process has ended and been reaped."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def become(fact: Callable[[], bool]) -> None:
    """Wait until something is so."""
    end = time.monotonic() + PATIENCE_S
    while not fact():
        assert time.monotonic() < end, "it did not become so in time"
        time.sleep(0.01)


async def together(*works: Awaitable[Any]) -> list[Any]:
    """The results of works at once, errors among them."""
    return await asyncio.gather(*works, return_exceptions=True)
