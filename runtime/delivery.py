"""How an item gets into an actor's mailbox, and what becomes of it if it does not. From any thread.

The mailbox is made on first use, so that an actor nobody has written to costs no deque.
"""

from __future__ import annotations

from typing import Any, cast

from runtime.errors import BlockingCallOnLoop, MailboxFull
from runtime.life import Life
from runtime.mailbox import BoundedMailbox, Envelope, Mailbox, Put, WatchNotice
from runtime.ref import dead_actor
from runtime.waits import on_loop_thread


def open_mailbox(life: Life) -> Mailbox:
    """The actor's mailbox, made if it has none.

    It is made outside the lock: making it may start a collection, and with it a finaliser that sends.
    """
    actor = life.spec.actor
    fresh: Mailbox
    if actor.capacity is None:
        fresh = Mailbox(life.bury)
    else:
        fresh = BoundedMailbox(life.bury, actor.capacity, actor.overflow)
    with life.host.lock:
        if life.mailbox is None:
            life.mailbox = fresh
        return life.mailbox


def put_if_room(life: Life, item: Any) -> Put:
    """Put an item into the mailbox if there is room, whatever the overflow rule."""
    outcome = (open_mailbox(life) if life.mailbox is None else life.mailbox).offer(item)
    if outcome == "kept" and not life.scheduled:
        life.schedule()
    return outcome


def put_when_room(life: Life, item: Any) -> Put:
    """Put an item into the mailbox, blocking this thread until there is room: the rule `block`.

    The wait stands in the wait graph: a sender that waits for room in the mailbox of an actor that waits
    for the sender is refused with AskCycle.
    """
    if on_loop_thread():
        raise BlockingCallOnLoop(
            f"the mailbox of {life.path} is full and its overflow rule is 'block', which would stop every "
            "actor here; write `await ref.offer(message)`"
        )
    while (outcome := put_if_room(life, item)) == "full":
        mailbox = life.mailbox
        room = mailbox.room(life) if isinstance(mailbox, BoundedMailbox) else None
        if room is not None:  # else there is room again, or the actor has stopped meanwhile
            try:
                room.get()
            except BaseException:
                cast("BoundedMailbox", mailbox).pass_on()
                raise
    return outcome


def refusal(life: Life, item: Any, outcome: Put) -> Exception:
    """Bury an item the mailbox did not take; returns the error for its sender."""
    if outcome == "closed":
        life.bury(item, "stopped")
        return dead_actor(life.path, life.failure)
    error = MailboxFull(
        f"the mailbox of {life.path} holds {life.spec.actor.capacity} messages and its overflow rule is "
        "'reject'; slow down, or `await ref.offer(message)`"
    )
    if type(item) is Envelope:
        item.reply.settle(error=error)
    return error


def bury(life: Life, item: Any, reason: str) -> None:
    """Make an item a dead letter and answer whoever waits for it; a notice of the runtime's is dropped."""
    if type(item) is WatchNotice:
        return
    message = item
    if type(item) is Envelope:
        message = item.message
        error: Exception = dead_actor(life.path, life.failure)
        if reason == "overflow":
            error = MailboxFull(f"the mailbox of {life.path} was full; the message was dropped")
        item.reply.settle(error=error)
    life.host.bury(life.path, message, reason)
