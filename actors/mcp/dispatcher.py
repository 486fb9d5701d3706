"""`Dispatcher`: JSON-RPC 2.0 over a transport, both ways; knows nothing of MCP's methods.

    dispatcher = Dispatcher("server 'files'", transport, Handlers(requests={"ping": pong}))
    await dispatcher.open()
    result = await dispatcher.request("tools/list", {}, Deadline(30.0))
    await dispatcher.aclose()

Many requests may be in flight; answers may come in any order. An id is used once in the life of a dispatcher,
so an answer that comes late or twice belongs to nobody: it is logged and dropped, never given to another
request. All runs on one event loop. The dispatcher owns its transport and the tasks that answer the other
side's requests, and ends them in `aclose`.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from types import MappingProxyType
from typing import Any

import structlog
from msgspec import Struct

from actors.errors import InvalidArgument, McpConnectionLost, McpRefused, McpTimeout
from actors.mcp.deadline import Deadline
from actors.mcp.jsonrpc import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    Answer,
    Failure,
    Incoming,
    Noise,
    Notification,
    Request,
    RequestId,
    answer_bytes,
    failure_bytes,
    notification_bytes,
    request_bytes,
)
from actors.mcp.transport import NO_HEADERS, Outgoing, Params, Transport

_log = structlog.get_logger(__name__)

RequestHandler = Callable[[Request], Awaitable[Any]]
"""Answers a request of the other side; raises `Refusal` to refuse it."""

_NO_REQUESTS: Mapping[str, RequestHandler] = MappingProxyType({})


class Refusal(Exception):
    """Raised by a request handler: the error answer the other side gets."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


def _ignore(*_: object) -> None:
    """Nobody wants to know."""


class Handlers(Struct, frozen=True):
    """What happens with what the other side begins. Called on the loop; the plain functions return at once.

    * `requests`: by method; what is not there is refused with -32601. Each request runs in a task.
    * `notification`: called with method and parameters.
    * `abandoned`: called with the id and method of a request of ours whose answer nobody waits for any more.
    * `lost`: called once, when the connection has ended by itself.
    * `refuses_noise`: what is no message is answered with -32700 besides being logged; a server does so.
    """

    requests: Mapping[str, RequestHandler] = _NO_REQUESTS
    notification: Callable[[str, dict[str, Any]], None] = _ignore
    abandoned: Callable[[int, str], None] = _ignore
    lost: Callable[[McpConnectionLost], None] = _ignore
    refuses_noise: bool = False


class Dispatcher:
    """See the module. `peer` names the other side in messages: `server 'files'`."""

    def __init__(self, peer: str, transport: Transport, handlers: Handlers) -> None:
        self._peer = peer
        self._transport = transport
        self._handlers = handlers
        self._ids = itertools.count(1)
        self._pending: dict[RequestId, asyncio.Future[Any]] = {}
        self._answering: dict[RequestId, asyncio.Task[bytes]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._ended: McpConnectionLost | None = None
        self._noise = 0
        self.heard_at = 0.0

    @property
    def in_flight(self) -> int:
        """How many requests of ours wait for their answers."""
        return len(self._pending)

    @property
    def answering(self) -> int:
        """How many requests of the other side are being answered."""
        return len(self._answering)

    @property
    def ended(self) -> McpConnectionLost | None:
        """How the connection ended; None while it has not."""
        return self._ended

    async def open(self) -> None:
        """Make the connection. Raises McpConnectionLost; nothing is left then."""
        await self._transport.open(self)
        self.heard_at = asyncio.get_running_loop().time()

    # -- ours -------------------------------------------------------------------------------------

    async def request(
        self,
        method: str,
        params: Params,
        deadline: Deadline,
        headers: Mapping[str, str] = NO_HEADERS,
    ) -> Any:
        """The result of a request, any JSON value.

        Raises:
            InvalidArgument: `params` cannot be written as JSON; nothing was sent.
            McpRefused: the other side answered with an error.
            McpTimeout: it did not answer by the deadline; it is told that nobody waits, and its answer is
                dropped if it comes.
            McpConnectionLost: there is no connection, or it ended meanwhile; `sent` tells which.
            McpProtocolError: the answer is not MCP (HTTP).
        """
        if self._ended is not None:
            raise McpConnectionLost(str(self._ended), sent=False)
        identity = next(self._ids)
        try:
            body = request_bytes(identity, method, params)
        except (TypeError, ValueError, RecursionError) as exc:
            raise InvalidArgument(
                f"{method} to {self._peer} cannot be sent: its parameters are no JSON ({exc})"
            ) from exc
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._pending[identity] = answer
        try:
            async with deadline:
                await self._sent(Outgoing(body, identity, method, headers), answer)
                return await answer
        except asyncio.CancelledError:
            self._abandon(identity, method)
            raise
        except TimeoutError as exc:
            self._abandon(identity, method)
            raise McpTimeout(
                f"{self._peer} did not answer {method} within {deadline.limit}"
            ) from exc
        finally:
            del self._pending[identity]
            if answer.done() and not answer.cancelled():
                answer.exception()  # looked at, for asyncio; what counts has been raised

    async def _sent(self, message: Outgoing, answer: asyncio.Future[Any]) -> None:
        """Send it. A transport that fails after the answer has come has failed nobody.

        The end of the connection is no answer: what the transport says of this message counts then.
        """
        try:
            await self._transport.send(message)
        except McpConnectionLost:
            if not answer.done() or isinstance(answer.exception(), McpConnectionLost):
                raise

    def _abandon(self, identity: int, method: str) -> None:
        if self._ended is None and not self._transport.closing_cancels:
            self._handlers.abandoned(identity, method)

    async def notify(
        self, method: str, params: Params, headers: Mapping[str, str] = NO_HEADERS
    ) -> None:
        """Send a notification. Raises McpConnectionLost."""
        if self._ended is not None:
            raise McpConnectionLost(str(self._ended), sent=False)
        body = notification_bytes(method, params)
        await self._transport.send(Outgoing(body, None, method, headers))

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run work that lives no longer than the connection; its `McpError`s are its own to handle."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    # -- theirs (Receiver) ------------------------------------------------------------------------

    def received(self, message: Incoming) -> None:
        """See `Receiver`."""
        self.heard_at = asyncio.get_running_loop().time()
        match message:
            case Answer(id=identity, result=result):
                answer = self._waiting(identity)
                if answer is not None:
                    answer.set_result(result)
            case Failure():
                self._failed(message)
            case Notification(method=method, params=params):
                self._handlers.notification(method, params)
            case Request():
                self._requested(message)
            case Noise(why=why):
                self._heard_noise(why)

    def lost(self, error: McpConnectionLost) -> None:
        """See `Receiver`: all that wait fail at once, as requests that had been sent."""
        self._end(error)
        self._handlers.lost(error)

    def _end(self, error: McpConnectionLost) -> None:
        self._ended = error
        for answer in self._pending.values():
            if not answer.done():
                answer.set_exception(McpConnectionLost(str(error), sent=True))

    def _waiting(self, identity: RequestId) -> asyncio.Future[Any] | None:
        answer = self._pending.get(identity)
        if answer is None or answer.done():
            _log.debug("an answer nobody waits for", peer=self._peer, id=identity)
            return None
        return answer

    def _failed(self, failure: Failure) -> None:
        if failure.id is None:
            _log.warning("an error about no request", peer=self._peer, error=failure.message)
            return
        answer = self._waiting(failure.id)
        if answer is not None:
            text = f"{self._peer} refused: {failure.message} (code {failure.code})"
            answer.set_exception(McpRefused(text, code=failure.code, data=failure.data))

    def _heard_noise(self, why: str) -> None:
        """Told once aloud: a server that prints its log to its output does so all the time."""
        tell = _log.debug if self._noise else _log.warning
        tell("something that is no message was skipped", peer=self._peer, what=why)
        self._noise += 1
        if self._handlers.refuses_noise:
            self.start(self._reply(failure_bytes(None, PARSE_ERROR, why)))

    # -- answering --------------------------------------------------------------------------------

    def _requested(self, request: Request) -> None:
        if request.id in self._answering:
            answer = failure_bytes(
                None, INVALID_REQUEST, f"id {request.id!r} is that of a request in flight"
            )
            self.start(self._reply(answer))
            return
        answering = asyncio.ensure_future(self._answered(request))
        self._answering[request.id] = answering
        answering.add_done_callback(lambda _: self._answering.pop(request.id))
        self.start(self._answer(answering))

    async def _answer(self, answering: asyncio.Task[bytes]) -> None:
        """Send the answer when it is there; none for a request that was withdrawn."""
        try:
            answer = await answering
        finally:
            answering.cancel()
        await self._reply(answer)

    async def _answered(self, request: Request) -> bytes:
        """The answer to their request; whatever a handler does, it is one."""
        handler = self._handlers.requests.get(request.method)
        if handler is None:
            return failure_bytes(
                request.id, METHOD_NOT_FOUND, f"method {request.method!r} is not offered here"
            )
        try:
            return answer_bytes(request.id, await handler(request))
        except Refusal as refusal:
            return failure_bytes(request.id, refusal.code, str(refusal), refusal.data)
        except Exception as error:  # noqa: BLE001 - the rim: a handler may be a user's
            _log.exception("answering failed", peer=self._peer, method=request.method)
            return failure_bytes(request.id, INTERNAL_ERROR, f"{type(error).__name__}: {error}")

    async def _reply(self, body: bytes) -> None:
        try:
            await self._transport.send(Outgoing(body))
        except McpConnectionLost as error:
            _log.debug("an answer could not be sent", peer=self._peer, error=str(error))

    def withdraw(self, identity: RequestId) -> None:
        """The other side does not wait for the answer any more: its handler is cancelled, nothing is sent."""
        task = self._answering.get(identity)
        if task is not None:
            task.cancel()

    # -- end --------------------------------------------------------------------------------------

    async def drain(self, within_s: float) -> None:
        """Wait until all their requests are answered, at most so long."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=within_s)

    async def aclose(self) -> None:
        """End the connection; requests in flight fail. Bounded in time, may be called twice."""
        if self._ended is None:
            self._end(McpConnectionLost(f"the connection to {self._peer} was closed"))
        tasks = [*self._tasks, *self._answering.values()]
        for task in tasks:
            task.cancel()
        try:
            await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            await self._transport.aclose()
