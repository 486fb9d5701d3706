"""How code waits for a reply: a thread by blocking, a coroutine on whichever event loop runs it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Generator
from typing import Any, Protocol

from runtime.errors import Timeout
from runtime.virtual import OutsideWait, VirtualTime


class Settles(Protocol):
    """What is needed of the reply that is waited for."""

    virtual: VirtualTime | None
    timeout: float | None

    def done(self) -> bool:
        """Whether an answer is there."""

    def add_done_callback(self, callback: Callable[[Any], None], /) -> None:
        """Call `callback(reply)` once, in the settling thread or now."""

    def drop_callback(self, callback: Callable[[Any], None], /) -> None:
        """Forget a callback that was not called yet."""

    def cancel(self) -> bool:
        """Take the message back."""


def block_until_settled(reply: Settles, timeout: float | None) -> None:
    """Block this thread. Raises Timeout after so many seconds; the reply goes on."""
    settled = threading.Lock()
    settled.acquire()
    outside = OutsideWait(reply.virtual)

    def wake(_: Any) -> None:
        outside.end()
        settled.release()

    reply.add_done_callback(wake)
    try:
        outside.begin()
        if not settled.acquire(timeout=-1 if timeout is None else max(timeout, 0.0)):
            raise Timeout(f"no answer within {timeout} seconds")
    finally:
        outside.end()
        if not reply.done():
            reply.drop_callback(wake)


def suspend_until_settled(reply: Settles) -> Generator[Any, None, None]:
    """Suspend the running coroutine; cancelling it, or the reply's own timeout, cancels the reply."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[None] = loop.create_future()
    here = threading.get_ident()

    def wake(_: Any) -> None:
        if threading.get_ident() == here:
            _resolve(future)
        else:
            _call_threadsafe(loop, future)

    reply.add_done_callback(wake)
    timer = None if reply.timeout is None else loop.call_later(reply.timeout, _resolve, future)
    try:
        yield from future
    except asyncio.CancelledError:
        reply.cancel()
        raise
    finally:
        if timer is not None:
            timer.cancel()
    if not reply.done():
        reply.cancel()
        raise Timeout(f"no answer within {reply.timeout} seconds")


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _call_threadsafe(loop: asyncio.AbstractEventLoop, future: asyncio.Future[None]) -> None:
    try:
        loop.call_soon_threadsafe(_resolve, future)
    except RuntimeError:
        if not loop.is_closed():
            raise
        # The awaiting loop was closed meanwhile: nobody is left to be told.
