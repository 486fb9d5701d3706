"""`Connection`: one connection to a model server, one request at a time.

An asyncio protocol that feeds what comes to a `ResponseReader`. Used on one event loop, by one task at a
time. What can go wrong is raised as the httpx error of its kind to the task that reads, once it has read
what had come before.

Promises: no silence of the server lasts longer than the request allows, while it takes a long request as
little as while it answers; what nobody reads stops the server at about 256 KiB.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import cast

import httpx

from actors.model.response_wire import ResponseReader, WireError

_HELD_BYTES = 262_144


class Connection(asyncio.Protocol):
    """See the module. `on_lost` is called once, when the connection has ended."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, on_lost: Callable[[Connection], None]
    ) -> None:
        self._loop = loop
        self._on_lost = on_lost
        self._transport: asyncio.Transport | None = None
        self._reader: ResponseReader | None = None
        self._pieces: list[bytes] = []
        self._held = 0
        self._waiter: asyncio.Future[None] | None = None
        self._error: httpx.TransportError | None = None
        self._requests = 0
        self._heard_anything = False
        self._broke = False
        self._paused = False
        self._read_s = 0.0
        self._heard_at = 0.0
        self._unsent = 0
        self._timer: asyncio.TimerHandle | None = None
        self.idle_since = 0.0

    # -- a request and its answer ----------------------------------------------------------------------

    def begin(self, request: bytes, read_s: float) -> None:
        """Send a request; no silence of the server after it may last longer than `read_s` seconds."""
        assert self._transport is not None
        self._reader = ResponseReader()
        self._requests += 1
        self._heard_anything = False
        self._read_s, self._heard_at = read_s, self._loop.time()
        self._transport.write(request)
        self._unsent = self._transport.get_write_buffer_size()
        self._watch()

    async def read_head(self) -> ResponseReader:
        """Wait for the head of the answer; gives the reader that knows it. Raises httpx.TransportError."""
        reader = self._reader
        assert reader is not None
        while not reader.status:
            await self._more()
        return reader

    async def read_piece(self) -> bytes:
        """The next piece of the body, empty at its end. Raises httpx.TransportError."""
        reader = self._reader
        while not self._pieces:
            if reader is None or reader.done:
                return b""
            await self._more()
        pieces, self._pieces, self._held = self._pieces, [], 0
        if self._paused:
            self._resume()
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def finish(self) -> bool:
        """End the request, and forget what of its answer was not read; whether another may follow."""
        reader, self._reader = self._reader, None
        self._pieces, self._held = [], 0
        self.idle_since = self._loop.time()
        clean = reader is not None and reader.done and reader.keep_alive
        return clean and self.usable and not self._paused

    @property
    def usable(self) -> bool:
        """Whether a request can be sent."""
        return self._error is None and not self._broke

    @property
    def was_stale(self) -> bool:
        """Whether it had served before, and ended under this request before a byte of an answer came."""
        return self._broke and self._requests > 1 and not self._heard_anything

    def abort(self, error: httpx.TransportError | None = None) -> None:
        """Close it at once; who reads from it gets the error, by default that it was closed."""
        if self._error is None:
            self._error = error or httpx.ReadError("the connection was closed here")
        if self._transport is not None:
            self._transport.abort()
        self._wake()

    async def _more(self) -> None:
        if self._error is not None:
            raise type(self._error)(str(self._error))  # a new one: this one outlives the caller
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # -- what the event loop calls -----------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection is there."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is one in all but name

    def data_received(self, data: bytes) -> None:
        """Bytes came."""
        reader = self._reader
        if reader is None:
            self.abort(httpx.RemoteProtocolError("the server spoke without being asked"))
            return
        self._heard_at, self._heard_anything = self._loop.time(), True
        try:
            piece = reader.feed(data)
        except WireError as exc:
            self.abort(httpx.RemoteProtocolError(str(exc)))
            return
        if reader.surplus:
            reader.keep_alive = False
        if piece:
            self._hold(piece)
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has ended."""
        if self._timer is not None:
            self._timer.cancel()
        if self._error is None:
            self._broke = True
            self._error = self._cut_off(exc)
        self._transport = None
        self._wake()
        self._on_lost(self)

    def _cut_off(self, exc: Exception | None) -> httpx.TransportError:
        if exc is not None:
            return httpx.ReadError(str(exc) or type(exc).__name__)
        try:
            if self._reader is not None:
                self._reader.feed_eof()
        except WireError as wire_error:
            return httpx.RemoteProtocolError(str(wire_error))
        return httpx.ReadError("the server closed the connection")

    def _hold(self, piece: bytes) -> None:
        self._pieces.append(piece)
        self._held += len(piece)
        if self._held > _HELD_BYTES and not self._paused:
            self._pause()

    def _pause(self) -> None:
        if self._transport is not None:
            self._paused = True
            self._transport.pause_reading()

    def _resume(self) -> None:
        self._paused = False
        self._heard_at = self._loop.time()
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    # -- the limit of silence: one timer that looks again, not one for each piece ----------------------------

    def _watch(self) -> None:
        due = self._heard_at + self._read_s
        if self._timer is not None:
            if self._timer.when() <= due:
                return
            self._timer.cancel()
        self._timer = self._loop.call_at(due, self._look)

    def _look(self) -> None:
        self._timer = None
        if self._reader is None or self._reader.done or self._transport is None:
            return
        now, unsent = self._loop.time(), self._transport.get_write_buffer_size()
        if (
            self._paused or unsent < self._unsent
        ):  # it is we who wait, or it still takes the request
            self._heard_at = now
        self._unsent = unsent
        if now >= self._heard_at + self._read_s:
            self.abort(httpx.ReadTimeout(f"nothing came for {self._read_s} s"))
        else:
            self._watch()
