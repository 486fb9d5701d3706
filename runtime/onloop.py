"""Runs an actor's code on the loop thread, a slice of messages at a time: the usual way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import CoroutineType
from typing import Any

from runtime.cell import PROXY_MESSAGES, Cell
from runtime.ending import GRACE_S, end
from runtime.loop import SLICE
from runtime.mailbox import Envelope, Mailbox, WatchNotice


def _unused(item: Any, reason: str) -> None:
    raise AssertionError(f"the empty mailbox took {item!r} ({reason})")


class OnLoop:
    """Runs an actor's code on the loop thread: the usual way."""

    __slots__ = ()

    def take(self, cell: Cell) -> int:
        """Handle at most a slice of waiting messages."""
        mailbox = _NO_MAILBOX if cell.mailbox is None else cell.mailbox
        taken = 0
        while cell.busy is None and cell.state == "running":
            exit_ = cell.exit
            if exit_ is not None and exit_.after <= 0:
                end(cell)
                break
            if taken >= SLICE or cell.control:
                if not cell.scheduled:  # else a sender put it into the queue meanwhile
                    cell.schedule()
                break
            try:
                item = mailbox.pop()
            except IndexError:
                if exit_ is not None:
                    exit_.after = 0
                    continue
                break
            taken += 1
            if exit_ is not None:
                exit_.after -= 1
            _handle(cell, item)
        return taken

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Run a hook here and now."""
        return function(*args)

    def cancel(self, running: asyncio.Future[Any]) -> None:
        """Cancel the task of an async handler or hook."""
        running.cancel()

    def may_call(self, instance: Any) -> bool:  # noqa: ARG002 - the seam's signature
        """Always: on one thread nothing runs at the same moment."""
        return True

    def start_grace_s(self, shutdown_s: float) -> float:  # noqa: ARG002 - the seam's signature
        """A cancelled start has as long as any cancelled code."""
        return GRACE_S

    def give_up(self) -> list[Any]:
        """Nothing to do: a task that does not end is not waited for, and it had taken one message."""
        return []

    def close(self) -> None:
        """Nothing is owned."""


ON_LOOP = OnLoop()

_NO_MAILBOX = Mailbox(_unused)


def _handle(cell: Cell, item: Any) -> None:
    """Handle one item of the mailbox."""
    kind = type(item)
    envelope: Envelope | None = None
    message = item
    if kind is Envelope:
        envelope = item
        message = item.message
        if item.reply.done():
            cell.host.bury(cell.path, message, "cancelled")
            return
    elif kind is WatchNotice:
        if item.incarnation != cell.incarnation:
            return
        message = item.message
    try:
        if type(message) in PROXY_MESSAGES:
            result = cell.instance._handle_receive(message)
        else:
            result = cell.instance.on_receive(message)
    except BaseException as error:  # noqa: BLE001 - the rim: answered, and the supervisor decides
        cell.raised(envelope, error)
        return
    if type(result) is CoroutineType:
        cell.current = envelope
        cell.busy_with(result, cell.handler_ended)
    elif envelope is not None:
        cell.answer(envelope, result)
