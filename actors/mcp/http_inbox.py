"""`Inbox`: gives the receiver what comes from any stream, and tells the requests that wait for answers.

Over HTTP an answer comes on the stream of its request. A server that takes up a broken stream again may
give it on another one, so a request waits for its answer and not for the end of its stream.
"""

from __future__ import annotations

import asyncio

import aiohttp

from actors.mcp.event_stream import ServerEvent
from actors.mcp.jsonrpc import Answer, Failure, Incoming, RequestId, read_messages
from actors.mcp.transport import Receiver


class Waiting:
    """A request on its way. `over` when it was answered or given up; `response` is its present stream."""

    __slots__ = ("answered", "id", "over", "response")

    def __init__(self, identity: RequestId) -> None:
        self.id = identity
        self.answered = False
        self.over = asyncio.Event()
        self.response: aiohttp.ClientResponse | None = None

    def end(self) -> None:
        """Wait no longer; reading its stream fails."""
        self.over.set()
        if self.response is not None:
            self.response.close()

    async def is_over_within(self, seconds: float) -> bool:
        """Wait so long at most; whether it is over."""
        try:
            async with asyncio.timeout(seconds):
                await self.over.wait()
        except TimeoutError:
            return False
        return True


class Inbox:
    """See the module."""

    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._waiting: dict[RequestId, Waiting] = {}
        self.closed = False

    def expect(self, identity: RequestId) -> Waiting:
        """A request of that id is about to be sent; `forget` it in the end."""
        waiting = self._waiting[identity] = Waiting(identity)
        return waiting

    def forget(self, waiting: Waiting) -> None:
        """Nobody waits for it any more; its stream is closed."""
        del self._waiting[waiting.id]
        waiting.end()

    def take_event(self, event: ServerEvent, of: Waiting | None = None) -> bool:
        """An event came, on the stream of that request; whether that request is over."""
        if event.event == "message":
            for message in read_messages(event.data):
                self.take(message, of)
        return of is not None and of.over.is_set()

    def take(self, message: Incoming, of: Waiting | None = None) -> None:
        """A message came, on the stream of that request. An error without an id is about that request."""
        if self.closed:
            return
        if isinstance(message, Failure) and message.id is None and of is not None:
            message = Failure(of.id, message.code, message.message, message.data)
        self._receiver.received(message)
        if isinstance(message, Answer | Failure) and message.id is not None:
            self._answered(message.id, of)

    def _answered(self, identity: RequestId, of: Waiting | None) -> None:
        waiting = self._waiting.get(identity)
        if waiting is None:
            return
        waiting.answered = True
        if waiting is of:
            waiting.over.set()
        else:
            waiting.end()

    def close(self) -> None:
        """Nothing is received from now on, and nobody waits."""
        self.closed = True
        for waiting in list(self._waiting.values()):
            waiting.end()
