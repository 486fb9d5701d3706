"""Actors that must block: the same semantics, on a thread of their own.

For SQLite, for plain libraries that wait, for anything that would hold the loop. Handlers are plain
functions. All that waits in the mailbox (at most `batch_limit` messages) crosses to the thread in one
step; override `on_batch` to handle it as a group, for instance in one database transaction.

An idle blocking actor costs a thread, so use one per resource, not one per request.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from types import CoroutineType
from typing import Any, ClassVar

from runtime.actor import Actor
from runtime.cell import PROXY_MESSAGES, Cell
from runtime.ending import end
from runtime.errors import MisuseError
from runtime.mailbox import Envelope, WatchNotice
from runtime.threads import WorkerThreads


class BlockingActor(Actor):
    """An actor whose handlers and hooks run on its own thread and may block it.

    `on_start`, `on_stop`, `on_failure`, `on_restart` and every message run on that thread; `__init__` of
    the first incarnation runs in the thread that calls `spawn`, so open what is bound to a thread in
    `on_start`. A handler that does not end within `shutdown` seconds of a stop is abandoned with its
    thread and named in the log. `background` is not available.

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


class OnThread:
    """Runs an actor's code on one worker thread."""

    __slots__ = ("_host", "_name", "_workers")

    def __init__(self, host: Any, name: str) -> None:
        self._host = host
        self._name = name
        self._workers: WorkerThreads | None = None

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
        if not items:
            return 1
        if cell.exit is not None:
            cell.exit.after = max(cell.exit.after - len(items), 0)
        back = cell.host.loop_thread.loop.create_future()
        cell.busy = back
        batched = type(cell.instance).on_batch is not BlockingActor.on_batch
        work = _handle_group if batched else _handle_each
        done = self._threads().submit(work, cell, cell.instance, items)
        done.add_done_callback(
            lambda reply: cell.host.loop_thread.post(
                _came_back, cell, back, reply.exception(), reply
            )
        )
        return len(items)

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Run a hook on the thread; a coroutine to await for it."""
        return self._threads().run(_plain, function, args)

    def cancel(self, running: asyncio.Future[Any]) -> None:
        """A running plain function cannot be cancelled."""

    def give_up(self) -> None:
        """Leave the thread to what it does; the next call gets a new one."""
        if self._workers is not None:
            self._workers.close()
            self._workers = None

    def close(self) -> None:
        """End the thread."""
        self.give_up()


def _plain(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    result = function(*args)
    if type(result) is CoroutineType:
        result.close()
        raise MisuseError(
            "a BlockingActor's handlers and hooks are plain functions; `async def` runs on the loop"
        )
    return result


def _live_items(cell: Cell) -> list[Any]:
    """Take up to a batch from the mailbox: neither cancelled nor meant for an earlier incarnation."""
    items: list[Any] = []
    mailbox = cell.mailbox
    while mailbox is not None and len(items) < cell.instance.batch_limit:
        try:
            item = mailbox.pop()
        except IndexError:
            break
        if type(item) is Envelope and item.reply.done():
            cell.host.bury(cell.path, item.message, "cancelled")
        elif type(item) is not WatchNotice or item.incarnation == cell.incarnation:
            items.append(item)
    return items


def _message(item: Any) -> Any:
    return item.message if type(item) is Envelope or type(item) is WatchNotice else item


def _settle(cell: Cell, item: Any, outcome: Any) -> BaseException | None:
    """Give one message its outcome; the error, if the actor has to fail for it."""
    envelope = item if type(item) is Envelope else None
    if not isinstance(outcome, BaseException):
        cell.answer(envelope, outcome)
        return None
    if envelope is not None:
        envelope.reply.settle(error=outcome)
        if isinstance(outcome, cell.spec.actor.expected_errors):
            return None
    return outcome


def _handle_each(
    cell: Cell, actor: BlockingActor, items: list[Any]
) -> tuple[BaseException | None, list[Any]]:
    """On the thread: one after the other, until one fails the actor or it is to stop now."""
    for index, item in enumerate(items):
        exit_ = cell.exit
        if exit_ is not None and exit_.after < 0:
            return None, items[index:]
        message = _message(item)
        handler = actor._handle_receive if type(message) in PROXY_MESSAGES else actor.on_receive
        try:
            outcome = _plain(handler, (message,))
        except Exception as error:  # noqa: BLE001 - the rim: answered, and the supervisor decides
            outcome = error
        fatal = _settle(cell, item, outcome)
        if fatal is not None:
            return fatal, items[index + 1 :]
    return None, []


def _handle_group(
    cell: Cell, actor: BlockingActor, items: list[Any]
) -> tuple[BaseException | None, list[Any]]:
    """On the thread: the whole batch in one call."""
    try:
        outcomes = list(_plain(actor.on_batch, ([_message(item) for item in items],)))
    except Exception as error:  # noqa: BLE001 - the rim: every message of the batch shares it
        outcomes = [error] * len(items)
    if len(outcomes) != len(items):
        wrong = MisuseError(f"on_batch returned {len(outcomes)} outcomes for {len(items)} messages")
        outcomes = [wrong] * len(items)
    settled = [_settle(cell, item, outcome) for item, outcome in zip(items, outcomes, strict=True)]
    return next((error for error in settled if error is not None), None), []


def _came_back(
    cell: Cell, back: asyncio.Future[Any], error: BaseException | None, reply: Any
) -> None:
    """On the loop: the thread is done with the batch."""
    if cell.busy is not back:
        return  # given up meanwhile
    cell.busy = None
    back.cancel()
    fatal, left = (error, []) if error is not None else reply.get()
    if left and cell.mailbox is not None:
        cell.mailbox.put_back(left)
    if fatal is not None:
        cell.raised(None, fatal)
    cell.schedule()
