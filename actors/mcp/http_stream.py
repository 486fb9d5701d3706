"""A stream of server-sent events over HTTP: how it is read, and when it is asked for again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import aiohttp

from actors.mcp.event_stream import EventStream, ServerEvent

EVENTS: Final = "text/event-stream"
LONGEST_PAUSE_S: Final = 30.0
MOST_BREAKS: Final = 5
_SHORTEST_PAUSE_S: Final = 0.05
_PAUSE_S: Final = 1.0


class Cursor:
    """How far a stream has been read, so that it can be taken up again there; no I/O.

    `last_id` is empty where the server has named none. The pauses are what the server asks for, within
    0.05 to 30 s, and 1 s where it asks for nothing; they double with each break before which nothing new
    had come.
    """

    def __init__(self) -> None:
        self.last_id = ""
        self._pause_s = _PAUSE_S
        self._news = False
        self._breaks = 0

    def saw(self, event: ServerEvent) -> None:
        """An event was read."""
        if event.retry_ms is not None:
            self._pause_s = min(event.retry_ms / 1000, LONGEST_PAUSE_S)
        if event.data or event.id not in (None, self.last_id):
            self._news = True
        if event.id is not None:
            self.last_id = event.id

    @property
    def hopeless(self) -> bool:
        """Whether the stream broke `MOST_BREAKS` times and nothing new has come meanwhile."""
        return self._breaks >= MOST_BREAKS and not self._news

    def next_pause(self) -> float:
        """The stream broke: seconds to wait before it is asked for again."""
        self._breaks = 0 if self._news else self._breaks + 1
        self._news = False
        doubled = max(self._pause_s, _SHORTEST_PAUSE_S) * (1 << min(self._breaks, 10))
        return min(doubled, LONGEST_PAUSE_S)


def is_event_stream(response: aiohttp.ClientResponse) -> bool:
    """Whether an answer is one that can be read by `read_events`."""
    return response.status == 200 and response.content_type == EVENTS


async def read_events(
    response: aiohttp.ClientResponse, cursor: Cursor, take: Callable[[ServerEvent], bool]
) -> bool:
    """Hand each event to `take` until it says that it is enough; False if the stream ended before.

    Raises aiohttp.ClientError or OSError where the connection breaks, and EventTooLong.
    """
    decoder = EventStream()
    enough = False
    while not enough and (chunk := await response.content.readany()):
        for event in decoder.feed(chunk):
            cursor.saw(event)
            enough = take(event) or enough
    return enough
