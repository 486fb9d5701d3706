"""How a modern server says that its tools have changed: a stream that stays open, or how long a list is good.

A legacy server sends the notification by itself, and needs nothing of this.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import Any, Final

import structlog

from actors.errors import McpConnectionLost, McpError
from actors.mcp.channel import Channel
from actors.mcp.deadline import Deadline

_log = structlog.get_logger(__name__)

LONGEST_PAUSE: Final = 60.0
"""Seconds, between two tries at a stream that ends."""

SHORTEST_TTL: Final = 10.0
"""Seconds; a list is asked for again no sooner, whatever the server says."""


class Listening:
    """Calls `changed` when the list of tools has changed, or may have."""

    def __init__(self, channel: Channel, changed: Callable[[], None]) -> None:
        self._channel = channel
        self._changed = changed
        self._good_until = math.inf
        self._listens = False

    def begin(self) -> None:
        """Listen, where the server is modern and offers to say so; ends with the channel."""
        agreed = self._channel.agreed
        if not agreed.legacy and agreed.can("tools", "listChanged"):
            self._channel.start(self._listen())

    def listed(self, page: dict[str, Any]) -> None:
        """Tools were listed; `page` may say for how many milliseconds that is good (`ttlMs`)."""
        ttl = page.get("ttlMs")
        if isinstance(ttl, int | float) and not self._listens:
            loop = asyncio.get_running_loop()
            self._good_until = loop.time() + max(ttl / 1000, SHORTEST_TTL)
        else:
            self._good_until = math.inf

    @property
    def outdated(self) -> bool:
        """Whether the last list is no longer good by what the server said of it."""
        return asyncio.get_running_loop().time() > self._good_until

    async def _listen(self) -> None:
        """Keep the stream; one that ends is opened again, and what happened meanwhile asked for."""
        pause = 1.0
        params = {"notifications": {"toolsListChanged": True}}
        while True:
            self._listens = True
            began = asyncio.get_running_loop().time()
            try:
                await self._channel.ask("subscriptions/listen", params, Deadline(math.inf))
            except McpConnectionLost as error:
                _log.debug("listening ended", peer=self._channel.peer, why=str(error))
            except McpError as error:
                _log.info("changes cannot be listened for", peer=self._channel.peer, why=str(error))
                self._listens = False
                return
            if asyncio.get_running_loop().time() - began > LONGEST_PAUSE:
                pause = 1.0
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)
            self._changed()
