"""The answer to an ask: settled exactly once, readable from any thread and any event loop.

`Reply` is a `pykka.Future`: `get`, `set`, `set_exception`, `map`, `filter`, `join` and `reduce` do what
pykka's do. Beyond that it is awaitable from any loop, has callbacks, and can be cancelled.

Promises: exactly one of value, exception, `ActorDeadError` or `Cancelled` arrives; the first one to
settle wins and the others are told so. Callbacks run once, in the settling thread; one that raises is
logged and does not keep the others from running. A blocking `get` on
a system's loop thread raises instead of stopping every actor. A wait that closes a ring of waiters
raises `AskCycle` at once and takes the message back.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Generator, Iterable
from typing import Any, ClassVar, Generic, Protocol, TypeVar, cast

import pykka

from runtime.errors import AskCycle, BlockingCallOnLoop, Cancelled
from runtime.events import log
from runtime.virtual import VirtualTime
from runtime.waiting import block_until_settled, suspend_until_settled
from runtime.waits import (
    CURRENT,
    Activity,
    Awaited,
    answer_through,
    enter_wait,
    leave_wait,
    on_loop_thread,
)

T = TypeVar("T")
M = TypeVar("M")

ExcInfo = tuple[type[BaseException] | None, BaseException | None, Any]

_settling = threading.RLock()
_counting = threading.Lock()


def _fresh_locks() -> None:
    global _settling, _counting  # in a forked child the thread that held one is gone
    _settling, _counting = threading.RLock(), threading.Lock()


os.register_at_fork(after_in_child=_fresh_locks)


class HandlerOwner(Protocol):
    """Who runs the handler that will answer, and can cancel it (a cell)."""

    def cancel_handler(self, reply: Reply[Any], /) -> None:
        """Cancel the handler that runs for this reply, if one does; from any thread."""


class Reply(pykka.Future[T], Generic[T]):
    """A value that is there now or later. See the module's promises.

    `target` is the activity that will answer; the wait graph follows it. `owner` runs the handler and
    can cancel it. `timeout`, in seconds, is the
    default for `get` and the deadline of an `await`; None waits until the answer comes.
    """

    __slots__ = (
        "_callbacks",
        "_done",
        "_error",
        "_owner",
        "_value",
        "target",
        "timeout",
        "virtual",
    )

    bounded: ClassVar[bool] = False
    """Whether a wait for it comes to its end in any case, so that the wait graph need not refuse it."""

    _get_hook = None  # pykka's slot for lazy futures; this class settles eagerly

    def __init__(
        self,
        target: Activity | None = None,
        owner: HandlerOwner | None = None,
        *,
        virtual: VirtualTime | None = None,
        timeout: float | None = None,
    ) -> None:
        self._done = False
        self._value: Any = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[Reply[Any]], None]] | None = None
        self._owner = owner
        self.target = target
        self.virtual = virtual
        self.timeout = timeout

    def __repr__(self) -> str:
        state = "pending" if not self._done else f"error {self._error!r}" if self._error else "done"
        return f"<Reply {state}>"

    # -- settling -------------------------------------------------------------------------------

    def settle(self, value: Any = None, error: BaseException | None = None) -> bool:
        """Settle with a value or an error; False if it was settled before (nothing changes then)."""
        with _settling:
            if self._done:
                return False
            self._value = value
            self._error = error
            self._done = True
            callbacks = self._callbacks
            self._callbacks = None
            self._owner = None
        self.target = None
        if callbacks is not None:
            for callback in callbacks:
                self._call(callback)
        return True

    def _call(self, callback: Callable[[Reply[Any]], None]) -> None:
        try:
            callback(self)
        except Exception:  # noqa: BLE001 - who settles is not to blame, and the next callback waits
            log.error("reply_callback_failed", callback=repr(callback), exc_info=True)

    def set(self, value: T | None = None) -> None:
        """Settle with a value, as pykka's. Raises RuntimeError if it was settled before."""
        if not self.settle(value):
            raise RuntimeError("reply is settled already; a reply is set exactly once")

    def set_exception(self, exc_info: ExcInfo | BaseException | None = None) -> None:
        """Settle with an exception, or with the one being handled, as pykka's.

        Raises RuntimeError if it was settled before, or if there is no exception at hand.
        """
        error = exc_info if isinstance(exc_info, BaseException) else (exc_info or sys.exc_info())[1]
        if error is None:
            raise RuntimeError("set_exception() outside an except block needs an exception")
        if not self.settle(error=error):
            raise RuntimeError("reply is settled already; a reply is set exactly once")

    def set_get_hook(self, func: Callable[[float | None], T]) -> None:
        """Not supported: a lazy reply could not be awaited. Use `map` or `add_done_callback`."""
        raise NotImplementedError("Reply settles eagerly; use map() or add_done_callback()")

    # -- asking about it ------------------------------------------------------------------------

    def done(self) -> bool:
        """Whether an answer is there."""
        return self._done

    def exception(self) -> BaseException | None:
        """The error it was settled with, or None (also while it is pending)."""
        return self._error

    def has_listeners(self) -> bool:
        """Whether somebody waits for the answer now (an await, a get, a callback, a follower)."""
        return bool(self._callbacks)

    def add_done_callback(self, callback: Callable[[Reply[Any]], None]) -> None:
        """Call `callback(reply)` once it is settled: in the settling thread, or now if it is already."""
        added = [callback]  # made outside the lock: making it may run a finaliser that settles
        with _settling:
            if not self._done:
                if self._callbacks is None:
                    self._callbacks = added
                else:
                    self._callbacks += added
                return
        self._call(callback)

    def drop_callback(self, callback: Callable[[Reply[Any]], None]) -> None:
        """Forget a callback that was not called yet."""
        with _settling:
            if self._callbacks is not None and callback in self._callbacks:
                self._callbacks.remove(callback)

    def follow(self, other: Reply[Any]) -> None:
        """Be answered by `other`: same outcome, and cancelling this one cancels it.

        If `other` waits for who waits for this one, this one is settled with `AskCycle`.
        """
        if other._done:
            self.settle(other._value, other._error)
            return
        link = _Link(other)
        try:
            answer_through(self, link)
        except AskCycle as error:
            self.settle(error=error)
        self._owner = link
        other.add_done_callback(self._copy)

    def _copy(self, other: Reply[Any]) -> None:
        self.settle(other._value, other._error)

    # -- cancelling -----------------------------------------------------------------------------

    def cancel(self) -> bool:
        """Take the message back: drop it unstarted, or cancel the async handler that runs for it.

        Returns False if an answer was there already. A sync handler that runs goes on; its answer is
        no longer wanted. The reply raises `Cancelled`.
        """
        owner = self._owner
        settled = self.settle(error=Cancelled("the message was taken back before it was answered"))
        if settled and owner is not None:
            owner.cancel_handler(self)
        return settled

    def forget(self) -> None:
        """Nobody reads the answer any more: an unstarted message is dropped, a running handler goes on."""
        self.settle(error=Cancelled("nobody waits for the answer any more"))

    # -- waiting --------------------------------------------------------------------------------

    def get(self, *, timeout: float | None = None) -> T:
        """Wait for the answer, blocking this thread; raises what the handler raised.

        Raises:
            Timeout: `timeout` seconds (default: the ask's own) went by. The ask goes on.
            BlockingCallOnLoop: called on a loop thread; await the reply instead.
            AskCycle: the wait would close a ring of waiters.
        """
        if not self._done:
            self._block(self.timeout if timeout is None else timeout)
        if self._error is not None:
            raise self._error
        return cast("T", self._value)

    def _block(self, timeout: float | None) -> None:
        if on_loop_thread():
            raise BlockingCallOnLoop(
                "a blocking get() or ask() on the loop thread would stop every actor; "
                "write `await ref.aask(message)` in an async handler, or use tell"
            )
        waiter = CURRENT.get()
        self._enter(waiter)
        try:
            block_until_settled(self, timeout)
        finally:
            self._leave(waiter)

    def __await__(self) -> Generator[Any, None, T]:
        """Wait for the answer on the running event loop, whichever it is.

        Raises what `get` raises. Cancelling the await cancels the ask: nobody wants the answer.
        """
        if not self._done:
            waiter = CURRENT.get()
            self._enter(waiter)
            try:
                yield from suspend_until_settled(self)
            finally:
                self._leave(waiter)
        if self._error is not None:
            raise self._error
        return cast("T", self._value)

    def _enter(self, waiter: Activity | None) -> None:
        if waiter is None:
            return
        try:
            enter_wait(waiter, self, bounded=self.bounded)
        except BaseException:
            self.cancel()
            raise

    def _leave(self, waiter: Activity | None) -> None:
        if waiter is not None:
            leave_wait(waiter, self)

    # -- pykka's combinators --------------------------------------------------------------------

    def map(self, func: Callable[[T], M]) -> Reply[M]:
        """A reply with `func(value)`; pykka's `map`. `func` runs in the thread that settles this one."""
        return self._derive(func)

    def filter(self, func: Callable[[Any], bool]) -> Reply[Any]:
        """For a reply with an iterable: a reply with the list of items `func` accepts."""
        return self._derive(
            lambda items: [item for item in cast("Iterable[Any]", items) if func(item)]
        )

    def reduce(self, func: Callable[[Any, Any], Any], *args: Any) -> Reply[Any]:
        """For a reply with an iterable: `functools.reduce(func, items[, initial])`, as pykka's."""
        return self._derive(lambda items: _reduce(func, cast("Iterable[Any]", items), *args))

    def join(self, *futures: pykka.Future[Any]) -> Reply[Any]:
        """A reply with the list of this value and those of `futures`, in order; the first error wins.

        Plain pykka futures may be among them; each is waited for on a thread of its own.
        """
        replies = [self, *(as_reply(future) for future in futures)]
        joined: Reply[list[Any]] = Reply(_Link(*replies), virtual=self.virtual)
        left = [len(replies)]

        def one_done(reply: Reply[Any]) -> None:
            if reply._error is not None:
                joined.settle(error=reply._error)
                return
            with _counting:
                left[0] -= 1
                last = left[0] == 0
            if last:
                joined.settle([done._value for done in replies])

        for reply in replies:
            reply.add_done_callback(one_done)
        return joined

    def _derive(self, func: Callable[[T], Any]) -> Reply[Any]:
        derived: Reply[Any] = Reply(_Link(self), virtual=self.virtual)

        def apply(done: Reply[Any]) -> None:
            if done._error is not None:
                derived.settle(error=done._error)
                return
            try:
                value = func(done._value)
            except Exception as error:  # noqa: BLE001 - it is the derived reply's outcome
                derived.settle(error=error)
            else:
                derived.settle(value)

        self.add_done_callback(apply)
        return derived


class EndReply(Reply[T]):
    """Settles when a child has ended, which is bounded by its `shutdown` seconds."""

    __slots__ = ()

    bounded = True


class _Link:
    """Stands in the wait graph for what answers a reply that other replies answer."""

    __slots__ = ("_sources", "awaiting")

    path = ""

    def __init__(self, *sources: Reply[Any]) -> None:
        self._sources = sources
        self.awaiting: list[Awaited] | None = list(sources)

    def cancel_handler(self, _: Reply[Any]) -> None:
        for source in self._sources:
            source.cancel()


def as_reply(future: pykka.Future[Any]) -> Reply[Any]:
    """The future itself if it is a Reply; else a Reply that settles as the pykka future does.

    pykka's futures have no callbacks, so a short-lived thread waits for each. Use it to await the
    answer of a plain pykka actor: `await as_reply(pykka_ref.ask(message, block=False))`.
    """
    if isinstance(future, Reply):
        return future
    reply: Reply[Any] = Reply()

    def wait() -> None:
        try:
            reply.settle(future.get())
        except BaseException as error:  # noqa: BLE001 - it is the reply's outcome
            reply.settle(error=error)

    threading.Thread(target=wait, name="greenroom-pykka-future", daemon=True).start()
    return reply


def _reduce(func: Callable[[Any, Any], Any], items: Iterable[Any], *initial: Any) -> Any:
    result, rest = (initial[0], iter(items)) if initial else (None, iter(items))
    if not initial:
        try:
            result = next(rest)
        except StopIteration:
            raise TypeError("reduce() of an empty reply with no initial value") from None
    for item in rest:
        result = func(result, item)
    return result
