"""`ReplyReader`: reads what answers a request, as JSON or as a stream of events, until its answer has come."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

import aiohttp
import structlog

from actors.errors import McpConnectionLost, McpProtocolError
from actors.mcp.event_stream import EventTooLong
from actors.mcp.http_client import BROKEN, HttpClient
from actors.mcp.http_endpoint import Endpoint
from actors.mcp.http_inbox import Inbox, Waiting
from actors.mcp.http_stream import Cursor, is_event_stream, read_events
from actors.mcp.http_terms import Terms
from actors.mcp.jsonrpc import read_messages

JSON: Final = "application/json"

_log = structlog.get_logger(__name__)


class ReplyReader:
    """See the module. `open_stream` takes a broken stream up again; it raises an McpError if it cannot."""

    def __init__(
        self,
        peer: str,
        endpoint: Endpoint,
        client: HttpClient,
        inbox: Inbox,
        terms: Terms,
        open_stream: Callable[[Cursor], Awaitable[aiohttp.ClientResponse]],
    ) -> None:
        self._peer = peer
        self._endpoint = endpoint
        self._client = client
        self._inbox = inbox
        self._terms = terms
        self._open_stream = open_stream

    async def read(self, response: aiohttp.ClientResponse, waiting: Waiting) -> None:
        """Read until `waiting` is over; the caller closes its stream.

        Raises:
            McpConnectionLost: the stream broke for good; `sent` is true.
            McpProtocolError: this is no answer.
        """
        waiting.response = response
        if waiting.over.is_set():
            return
        if is_event_stream(response):
            await self._follow(response, waiting)
        elif response.content_type == JSON and response.status != 202:
            await self._read_json(response, waiting)
        else:
            raise self._no_answer(response, await self._client.read_start(response))

    async def _read_json(self, response: aiohttp.ClientResponse, waiting: Waiting) -> None:
        body = await self._client.read(response)
        for message in read_messages(body):
            self._inbox.take(message, waiting)
        if not waiting.over.is_set():
            raise self._no_answer(response, body[:4096])

    def _no_answer(self, response: aiohttp.ClientResponse, body: bytes) -> McpProtocolError:
        said = self._endpoint.quoted(body.decode("utf-8", errors="replace"))
        what = f"{response.content_type}: {said}" if said else "an empty body"
        return McpProtocolError(
            f"{self._peer} took a request and gave no answer to it, but status "
            f"{response.status} and {what}",
            status=response.status,
        )

    # -- streams ----------------------------------------------------------------------------------

    async def _follow(self, response: aiohttp.ClientResponse, waiting: Waiting) -> None:
        cursor = Cursor()
        take = partial(self._inbox.take_event, of=waiting)
        while True:
            lost = McpConnectionLost(
                f"{self._peer} ended the stream of an answer before the answer", sent=True
            )
            try:
                await read_events(response, cursor, take)
            except EventTooLong as error:
                raise McpProtocolError(f"{self._peer}: {error}") from error
            except BROKEN as error:
                lost = self._client.broken(error)
            if waiting.over.is_set():
                return
            response.close()
            response = await self._taken_up(cursor, waiting, lost)
            waiting.response = response
            if waiting.over.is_set():
                return

    async def _taken_up(
        self, cursor: Cursor, waiting: Waiting, lost: McpConnectionLost
    ) -> aiohttp.ClientResponse:
        """The stream from where it broke, which only legacy servers give; `lost` if there is none."""
        while self._terms.legacy and cursor.last_id and not cursor.hopeless:
            pause_s = cursor.next_pause()
            _log.debug("an answer is asked for again", peer=self._peer, why=str(lost), in_s=pause_s)
            if await waiting.is_over_within(pause_s):
                break
            try:
                return await self._open_stream(cursor)
            except McpConnectionLost as error:
                lost = McpConnectionLost(str(error), sent=True)
            except McpProtocolError as error:
                lost = McpConnectionLost(f"{lost}; {error}", sent=True)
                if error.status < 500:
                    break
        raise lost
