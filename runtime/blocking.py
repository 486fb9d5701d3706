"""Actors that must block: the same semantics, on a thread of their own.

For SQLite, for plain libraries that wait, for anything that would hold the loop. Handlers are plain
functions. All that waits in the mailbox (at most `batch_limit` messages) crosses to the thread in one
step; override `on_batch` to handle it as a group, for instance in one database transaction.

An idle blocking actor costs a thread, so use one per resource, not one per request.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from types import CoroutineType
from typing import Any, ClassVar

from runtime.actor import Actor
from runtime.cell import PROXY_MESSAGES, Cell
from runtime.ending import GRACE_S, end
from runtime.errors import ActorDeadError, MisuseError, SystemEnded
from runtime.mailbox import Envelope, WatchNotice
from runtime.reply import Reply
from runtime.starting import no_coroutines
from runtime.threads import WorkerThreads


class BlockingActor(Actor):
    """An actor whose handlers and hooks run on its own thread and may block it.

    `on_start`, `on_stop`, `on_failure`, `on_restart` and every message run on that thread; `__init__` of
    the first incarnation runs in the thread that calls `spawn`, so open what is bound to a thread in
    `on_start`. A handler that does not end within `shutdown` seconds of a stop is abandoned with its
    thread and named in the log; its end hook is not called then. `background` is not available.

    `batch_limit` (64): most messages that cross to the thread at once.
    """

    batch_limit: ClassVar[int] = 64

    def on_batch(self, messages: Sequence[Any]) -> Sequence[Any]:
        """Handle what waited, in order; returns one outcome a message.

        An outcome that is an exception goes to whoever asked that message; if nobody did, the actor
        fails. Raising fails the whole batch. The default handles one after the other, and what comes
        after a failure goes back to the mailbox; overriding gives that up for the group's sake.
        """
        raise NotImplementedError


class Batch:
    """The items that crossed to the thread together; each is begun there or taken back, never both."""

    __slots__ = ("_begun", "_lock", "_waiting", "actor")

    def __init__(self, actor: BlockingActor, items: Sequence[Any]) -> None:
        self.actor = actor
        self._lock = threading.Lock()
        self._waiting = deque(items)
        self._begun: list[Any] = []

    def next(self) -> Any:
        """On the thread: begin the next item, or None if there is none."""
        with self._lock:
            self._begun = [self._waiting.popleft()] if self._waiting else []
            return self._begun[0] if self._begun else None

    def all(self) -> list[Any]:
        """On the thread: begin all items at once."""
        with self._lock:
            self._begun, self._waiting = list(self._waiting), deque()
            return self._begun

    def take_back(self) -> list[Any]:
        """The items that were not begun; the thread gets no more."""
        with self._lock:
            left, self._waiting = list(self._waiting), deque()
            return left

    def begun(self) -> list[Any]:
        """What is being handled now, or was last."""
        with self._lock:
            return list(self._begun)


class OnThread:
    """Runs an actor's code on one worker thread."""

    __slots__ = ("_batch", "_host", "_lost", "_name", "_workers")

    def __init__(self, host: Any, name: str) -> None:
        self._host = host
        self._name = name
        self._workers: WorkerThreads | None = None
        self._batch: Batch | None = None
        self._lost: BlockingActor | None = None

    def _threads(self) -> WorkerThreads:
        if self._workers is None:
            self._workers = self._host.worker_threads(self._name, limit=1)
        return self._workers

    def take(self, cell: Cell) -> int:
        """Send what waits to the thread; the cell is busy until it comes back."""
        if cell.exit is not None and (cell.exit.after <= 0 or not cell.mailbox):
            end(cell)
            return 1
        items = _live_items(cell)
        if items:
            self._send(cell, Batch(cell.instance, items))
        elif cell.exit is not None:
            cell.schedule()  # what waited was taken back: look again whether this is the end
        return len(items)

    def _send(self, cell: Cell, batch: Batch) -> None:
        batched = type(batch.actor).on_batch is not BlockingActor.on_batch
        back = cell.host.loop_thread.loop.create_future()
        cell.busy = back
        self._batch = batch
        try:
            done = self._threads().submit(_handle_group if batched else _handle_each, cell, batch)
        except RuntimeError as error:  # no thread can be started
            self._came_back(cell, back, batch, error)
        else:
            done.add_done_callback(partial(self._bring_back, cell, back, batch))

    def _bring_back(
        self, cell: Cell, back: asyncio.Future[Any], batch: Batch, done: Reply[Any]
    ) -> None:
        fatal = done.exception() or done.get()
        try:
            cell.host.loop_thread.post(self._came_back, cell, back, batch, fatal)
        except SystemEnded:
            pass  # the system gave this batch up

    def _came_back(
        self,
        cell: Cell,
        back: asyncio.Future[Any],
        batch: Batch,
        fatal: BaseException | None,
    ) -> None:
        """On the loop: the thread is done with the batch."""
        if cell.busy is not back:
            return  # given up meanwhile
        cell.busy = self._batch = None
        back.cancel()
        left = batch.take_back()
        if left and cell.mailbox is not None:
            cell.mailbox.put_back(left)
        if fatal is not None:
            cell.raised(None, fatal)
        cell.schedule()

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Run a hook on the thread; a coroutine to await for it."""
        return self._threads().run(_plain, function, args)

    def may_call(self, instance: Any) -> bool:
        """Not while a thread that was given up is still in a handler of that instance."""
        return instance is not self._lost

    def cancel(self, running: asyncio.Future[Any]) -> None:
        """A running plain function cannot be cancelled."""

    def start_grace_s(self, shutdown_s: float) -> float:
        """A start cannot be cancelled, so it has the child's whole time."""
        return max(shutdown_s, GRACE_S)

    def give_up(self) -> list[Any]:
        """Leave the thread to what it does; the next incarnation gets a new one."""
        workers, self._workers = self._workers, None
        if workers is not None:
            workers.close()
        batch, self._batch = self._batch, None
        if batch is None:
            return []
        self._lost = batch.actor
        left = batch.take_back()
        for item in batch.begun():
            if type(item) is Envelope:
                item.reply.settle(
                    error=ActorDeadError(f"{batch.actor} was stopped while handling it")
                )
        return left

    def close(self) -> None:
        """End the thread."""
        workers, self._workers = self._workers, None
        if workers is not None:
            workers.close()
        self._lost = None


def _plain(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    result = function(*args)
    if type(result) is CoroutineType:
        result.close()
        raise no_coroutines()
    return result


def _live_items(cell: Cell) -> list[Any]:
    """Take up to a batch from the mailbox: neither cancelled nor meant for an earlier incarnation.

    Before an end it takes no more than what is still to be handled.
    """
    items: list[Any] = []
    mailbox, exit_ = cell.mailbox, cell.exit
    limit = max(cell.instance.batch_limit, 1)
    while mailbox is not None and len(items) < limit and (exit_ is None or exit_.after > 0):
        try:
            item = mailbox.pop()
        except IndexError:
            break
        if exit_ is not None:
            exit_.after -= 1
        if type(item) is Envelope and item.reply.done():
            cell.host.bury(cell.path, item.message, "cancelled")
        elif type(item) is not WatchNotice or item.incarnation == cell.incarnation:
            items.append(item)
    return items


def _message(item: Any) -> Any:
    return item.message if type(item) is Envelope or type(item) is WatchNotice else item


def _handle_each(cell: Cell, batch: Batch) -> BaseException | None:
    """On the thread: one after the other, until one fails the actor or it is to stop now.

    Returns the error the actor fails for, if there is one.
    """
    actor = batch.actor
    while (exit_ := cell.exit) is None or exit_.after >= 0:
        item = batch.next()
        if item is None:
            break
        message = _message(item)
        envelope = item if type(item) is Envelope else None
        if envelope is not None and envelope.reply.done():
            cell.host.bury(cell.path, message, "cancelled")
            continue
        handler = actor._handle_receive if type(message) in PROXY_MESSAGES else actor.on_receive
        try:
            result = _plain(handler, (message,))
        except BaseException as error:  # noqa: BLE001 - the rim: answered, and the supervisor decides
            fatal = _answer_error(cell, envelope, error)
            if fatal is not None:
                return fatal
        else:
            cell.answer(envelope, result)
    return None


def _answer_error(
    cell: Cell, envelope: Envelope | None, error: BaseException
) -> BaseException | None:
    """Answer who asked with an error; returns it if the actor has to fail for it."""
    if envelope is None:
        return error
    if not isinstance(error, Exception):
        envelope.reply.settle(error=ActorDeadError(f"{cell.path} was interrupted by {error!r}"))
        return error
    envelope.reply.settle(error=error)
    return None if isinstance(error, cell.spec.actor.expected_errors) else error


def _handle_group(cell: Cell, batch: Batch) -> BaseException | None:
    """On the thread: the whole batch in one call."""
    items = batch.all()
    if not items:
        return None
    outcomes: list[Any]
    try:
        outcomes = list(_plain(batch.actor.on_batch, ([_message(item) for item in items],)))
    except BaseException as error:  # noqa: BLE001 - the rim: every message of the batch shares it
        outcomes = [error] * len(items)
    if len(outcomes) != len(items):
        wrong = MisuseError(f"on_batch returned {len(outcomes)} outcomes for {len(items)} messages")
        outcomes = [wrong] * len(items)
    fatal: BaseException | None = None
    for item, outcome in zip(items, outcomes, strict=True):
        envelope = item if type(item) is Envelope else None
        if isinstance(outcome, BaseException):
            fatal = _answer_error(cell, envelope, outcome) or fatal
        else:
            cell.answer(envelope, outcome)
    return fatal
