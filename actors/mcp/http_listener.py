"""`listen`: the stream on which a legacy server says what belongs to no request of ours (an HTTP GET)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import aiohttp
import structlog

from actors.errors import McpConnectionLost, McpProtocolError
from actors.mcp.event_stream import EventTooLong, ServerEvent
from actors.mcp.http_client import BROKEN
from actors.mcp.http_stream import Cursor, read_events
from actors.mcp.transport import SessionLost

SHORTEST_PAUSE_S: Final = 0.5
"""Between two streams, whatever `retry:` asks for: nobody waits for what comes on this one."""

_log = structlog.get_logger(__name__)


async def listen(
    peer: str,
    open_stream: Callable[[Cursor], Awaitable[aiohttp.ClientResponse]],
    take: Callable[[ServerEvent], bool],
) -> None:
    """Hand each event to `take`, and ask again for a stream that ends, until cancelled.

    Servers need not offer the stream: it ends for good, and nothing is lost, when the server answers with
    anything else (`open_stream` raises McpProtocolError) or has forgotten the session.
    """
    cursor = Cursor()
    while True:
        try:
            response = await open_stream(cursor)
            try:
                await read_events(response, cursor, take)
            finally:
                response.close()
        except (McpProtocolError, SessionLost) as error:
            _log.debug("a server offers no stream of its own", peer=peer, why=str(error))
            return
        except (McpConnectionLost, EventTooLong, *BROKEN) as error:
            _log.debug("the stream of a server broke", peer=peer, why=type(error).__name__)
        await asyncio.sleep(max(cursor.next_pause(), SHORTEST_PAUSE_S))
