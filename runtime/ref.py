"""References: the only way to an actor. A ref stays valid for the actor's whole supervised life.

`tell`, `ask`, `stop`, `proxy` and `is_alive` do what pykka's do, from any thread and any loop. Refs are
equal when they mean the same actor, and hashable.
"""

from __future__ import annotations

from typing import Any, Generic, Literal, Protocol, TypeVar, cast, overload

import pykka

from runtime.errors import ActorDeadError, BlockingCallOnLoop
from runtime.mailbox import BoundedMailbox, Envelope, Mailbox, Put
from runtime.reply import Reply
from runtime.virtual import VirtualTime
from runtime.waits import Awaited, on_loop_thread

A_co = TypeVar("A_co", bound=pykka.Actor, covariant=True)

StopMode = Literal["drain", "now"]


class Addressee(Protocol):
    """What a ref needs of the cell behind it."""

    awaiting: list[Awaited] | None
    mailbox: Mailbox | None

    @property
    def path(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def actor_type(self) -> type[Any]: ...
    @property
    def alive(self) -> bool: ...
    @property
    def virtual(self) -> VirtualTime | None: ...
    @property
    def current_instance(self) -> Any: ...
    def deliver(self, item: Any) -> Put:
        """Put an item into the mailbox and make the actor ready."""

    def deliver_if_room(self, item: Any) -> Put:
        """`deliver`, but `full` whatever the overflow rule says."""

    def refused(self, item: Any, outcome: Put) -> Exception:
        """Bury an item that was not taken; returns the error for its sender."""

    def stop_from_outside(self, mode: StopMode) -> Reply[bool]:
        """Ask the actor to stop for good."""

    def signal(self, signal: Any) -> None:
        """Hand an order to the present incarnation, past the mailbox."""

    def cancel_handler(self, reply: Reply[Any]) -> None:
        """Cancel the handler that runs for this reply, if one does."""


class ActorRef(pykka.ActorRef[A_co], Generic[A_co]):  # type: ignore[type-var]  # pykka's own variable is invariant
    """A reference to an actor. Made by `spawn`, `start_child` and `Actor.actor_ref`, never by hand."""

    __slots__ = ("_cell",)

    def __init__(self, cell: Addressee) -> None:
        self._cell = cell

    # -- who it is ------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The actor's name, unique in its system; made from the class where none was given."""
        return self._cell.name

    @property
    def path(self) -> str:
        """Where the actor stands in the tree: `/user/pool/worker-3`."""
        return self._cell.path

    @property
    def actor_class(self) -> type[Any]:  # type: ignore[override]  # pykka has a plain attribute
        """The class of the actor."""
        return self._cell.actor_type

    @property
    def actor_urn(self) -> str:  # type: ignore[override]  # the same
        """The path as pykka's `actor_urn`; unique among the actors of a system."""
        return self._cell.path

    @property
    def _actor_weakref(self) -> Any:  # type: ignore[override]  # the same
        """What pykka's proxy asks for: a callable that returns the present instance."""
        return lambda: self._cell.current_instance

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ActorRef) and other._cell is self._cell

    def __hash__(self) -> int:
        return hash(id(self._cell))

    def __repr__(self) -> str:
        return f"<ActorRef {self._cell.path}>"

    def __str__(self) -> str:
        return self._cell.path

    def is_alive(self) -> bool:
        """Whether messages are still accepted. A restarting actor is alive: its mailbox holds them."""
        return self._cell.alive

    # -- messages -------------------------------------------------------------------------------

    def tell(self, message: Any) -> None:
        """Send a message and go on. Order from one sender is kept.

        Raises:
            ActorDeadError: the actor has ended; the message became a dead letter.
            MailboxFull: no room, under the overflow rule `reject`.
            BlockingCallOnLoop: no room, under the rule `block`, on a loop thread.
        """
        outcome = self._cell.deliver(message)
        if outcome == "closed" or outcome == "full":  # noqa: PLR1714 - the hot path: two compares, no tuple
            raise self._cell.refused(message, outcome)

    @overload
    def ask(
        self, message: Any, *, block: Literal[False], timeout: float | None = None
    ) -> Reply[Any]: ...
    @overload
    def ask(self, message: Any, *, block: Literal[True], timeout: float | None = None) -> Any: ...
    @overload
    def ask(self, message: Any, *, block: bool = True, timeout: float | None = None) -> Any: ...

    def ask(self, message: Any, *, block: bool = True, timeout: float | None = None) -> Any:
        """Send a message and get its answer: the answer itself, or a `Reply` with `block=False`.

        With `timeout=None` the wait lasts as long as the actor may still answer: an answer, its error,
        `ActorDeadError` or `Cancelled` always comes. A blocking ask that runs out of time takes an
        unstarted message back; a handler that has begun goes on.

        Raises:
            BlockingCallOnLoop: with `block=True` on a loop thread; use `await ref.aask(message)`.
            AskCycle, ActorDeadError, MailboxFull, Timeout, and whatever the handler raised. With
            `block=False` these are raised by the reply.
        """
        if not block:
            return self._send(message, timeout)
        if on_loop_thread():
            raise BlockingCallOnLoop(
                f"a blocking ask of {self.path} on the loop thread would stop every actor; "
                "write `await ref.aask(message)` in an async handler, or use tell"
            )
        reply = self._send(message, timeout)
        try:
            return reply.get()
        except pykka.Timeout:
            reply.forget()
            raise

    def aask(self, message: Any, *, timeout: float | None = None) -> Reply[Any]:
        """The awaitable twin of `ask`: `answer = await ref.aask(message)`.

        `timeout` seconds bound the await; running out, or cancelling the await, cancels the ask.
        """
        return self._send(message, timeout)

    def _send(self, message: Any, timeout: float | None) -> Reply[Any]:
        cell = self._cell
        reply: Reply[Any] = Reply(cell, cell, virtual=cell.virtual, timeout=timeout)
        envelope = Envelope(message, reply)
        outcome = cell.deliver(envelope)
        if outcome == "closed" or outcome == "full":  # noqa: PLR1714 - the hot path
            cell.refused(envelope, outcome)
        return reply

    def signal(self, signal: Any) -> None:
        """Send an order to the present incarnation, past the mailbox; see `Actor.on_signal`.

        From any thread. An actor that is starting, restarting or dead does not get it: nothing of what it
        would interrupt is running.
        """
        self._cell.signal(signal)

    async def offer(self, message: Any) -> None:
        """Send a message, waiting for room in a full mailbox whatever its rule; from any event loop.

        Raises:
            ActorDeadError: the actor has ended.
            AskCycle: the actor waits for this one, so there would never be room.
        """
        while (outcome := self._cell.deliver_if_room(message)) == "full":
            mailbox = self._cell.mailbox
            room = mailbox.room(self._cell) if isinstance(mailbox, BoundedMailbox) else None
            if room is not None:
                try:
                    await room
                except BaseException:
                    cast("BoundedMailbox", mailbox).pass_on()
                    raise
        if outcome == "closed":
            raise self._cell.refused(message, outcome)

    async def aask_when_room(self, message: Any) -> Any:
        """`aask`, waiting for room in a full mailbox first, as `offer` does; from any event loop.

        Cancelled while it waits for room, nothing was sent. Raises as `offer` and `aask`.
        """
        reply: Reply[Any] = Reply(self._cell, self._cell, virtual=self._cell.virtual)
        await self.offer(Envelope(message, reply))
        return await reply

    # -- end ------------------------------------------------------------------------------------

    @overload
    def stop(
        self, *, block: Literal[True], timeout: float | None = None, mode: StopMode = "drain"
    ) -> bool: ...
    @overload
    def stop(
        self, *, block: Literal[False], timeout: float | None = None, mode: StopMode = "drain"
    ) -> Reply[bool]: ...
    @overload
    def stop(
        self, *, block: bool = True, timeout: float | None = None, mode: StopMode = "drain"
    ) -> bool | Reply[bool]: ...

    def stop(
        self, *, block: bool = True, timeout: float | None = None, mode: StopMode = "drain"
    ) -> bool | Reply[bool]:
        """End the actor for good; its supervisor does not restart it.

        * `mode="drain"`: what was sent before is handled first, as pykka does.
        * `mode="now"`: the running message ends (at most the child's `shutdown` seconds), the waiting
          ones become dead letters.

        Returns True when it has stopped, False if it was dead already; a `Reply` with `block=False`.
        On a loop thread only `block=False` is allowed; an actor ends itself with `self.stop()`.
        """
        if block and on_loop_thread():
            raise BlockingCallOnLoop(
                "a blocking stop() on the loop thread; write `await ref.astop()`"
            )
        reply = self._cell.stop_from_outside(mode)
        reply.timeout = timeout
        return reply.get() if block else reply

    def astop(self, *, timeout: float | None = None, mode: StopMode = "drain") -> Reply[bool]:
        """The awaitable twin of `stop`."""
        reply = self._cell.stop_from_outside(mode)
        reply.timeout = timeout
        return reply


def dead_actor(path: str, failure: str | None) -> ActorDeadError:
    """The error for a message to an actor that has ended, with what it failed with, if it did."""
    how = "has stopped" if failure is None else f"has failed and was not restarted ({failure})"
    return ActorDeadError(f"actor {path} {how}; the message became a dead letter")
