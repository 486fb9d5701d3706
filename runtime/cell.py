"""The cell: what survives a restart. It owns the mailbox, the ref, the name and the state of one actor.

The user's instance is made anew for each incarnation; the cell goes on, so a ref stays valid for the
actor's whole supervised life and messages that wait are not lost. The failing message is not retried.

`runtime.starting` and `runtime.ending` begin and end incarnations; this part takes messages and does what an actor asks
for. `deliver`, `stop_from_outside` and `cancel_handler` may be called from any thread, the rest on the
loop thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from types import CoroutineType
from typing import Any

from pykka.messages import ProxyCall, ProxyGetAttr, ProxySetAttr

from runtime.belongings import BackgroundWork
from runtime.childspec import ChildSpec
from runtime.delivery import bury, open_mailbox, put_if_room, put_when_room, refusal
from runtime.ending import halt
from runtime.errors import (
    ActorDeadError,
    BlockingCallOnLoop,
    Cancelled,
    MisuseError,
    SystemEnded,
)
from runtime.events import log
from runtime.exits import Exit
from runtime.host import Host, Performer
from runtime.life import Life
from runtime.mailbox import Envelope, Put, WatchNotice
from runtime.ref import ActorRef, StopMode
from runtime.reply import Reply
from runtime.strategy import restarts
from runtime.timers import Timer
from runtime.virtual import VirtualTime
from runtime.watching import end_watch, start_watch

PROXY_MESSAGES = frozenset({ProxyCall, ProxyGetAttr, ProxySetAttr})
"""Messages of pykka's proxies: they reach attributes and methods, not `on_receive`."""


class Cell(Life):
    """One actor's permanent part."""

    __slots__ = ("__weakref__", "_name", "_ref", "number")

    def __init__(
        self, host: Host, spec: ChildSpec, parent: Life | None, performer: Performer, number: int
    ) -> None:
        super().__init__(host, spec, parent, performer)
        self.number = number
        self._name = spec.name
        self._ref: ActorRef[Any] | None = None

    # -- who it is ----------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The given name, or one made of class and number."""
        return self._name or f"{self.spec.actor.__name__}-{self.number}"

    @property
    def entered_name(self) -> str | None:
        """The name to look it up by; the root and its own two children leave theirs to users."""
        own = self.parent is None or self.parent.parent is None
        return None if own else self._name

    @property
    def path(self) -> str:
        """The names from the root to here."""
        return "/" if self.parent is None else f"{self.parent.path.rstrip('/')}/{self.name}"

    @property
    def ref(self) -> ActorRef[Any]:
        """The one ref object of this cell."""
        if self._ref is None:
            self._ref = self.spec.actor.ref_class(self)
        return self._ref

    @property
    def actor_type(self) -> type[Any]:
        """The class of the actor."""
        return self.spec.actor

    @property
    def alive(self) -> bool:
        """Whether messages are accepted."""
        mailbox = self.mailbox
        return mailbox is None or not mailbox.closed

    @property
    def virtual(self) -> VirtualTime | None:
        """The system's virtual time, if it has one."""
        return self.host.virtual

    @property
    def current_instance(self) -> Any:
        """The present incarnation's instance, or None between two."""
        return self.instance

    def make_instance(self) -> Any:
        """A new instance of the actor's class that knows this cell already in its `__init__`."""
        spec = self.spec
        instance = spec.actor.__new__(spec.actor)
        instance._stage = self
        if spec.kwargs:
            instance.__init__(*spec.args, **spec.kwargs)  # type: ignore[misc]  # a fresh object's own constructor
        else:
            instance.__init__(*spec.args)  # type: ignore[misc]  # the same
        return instance

    # -- the mailbox, from any thread ------------------------------------------------------------------

    def deliver(self, item: Any) -> Put:
        """Put an item into the mailbox and make the cell ready."""
        mailbox = self.mailbox
        if mailbox is None:
            mailbox = open_mailbox(self)
        outcome = mailbox.put(item)
        if outcome == "kept":
            if not self.scheduled:
                self.schedule()
        elif outcome == "full" and self.spec.actor.overflow == "block":
            return put_when_room(self, item)
        return outcome

    def deliver_if_room(self, item: Any) -> Put:
        """`deliver`, but `full` whatever the overflow rule says."""
        return put_if_room(self, item)

    def schedule(self) -> None:
        """Put the cell into the run queue."""
        self.scheduled = True
        loop_thread = self.host.loop_thread
        loop_thread.ready.append(self)
        if not loop_thread.awake:
            try:
                loop_thread.wake()
            except SystemEnded:
                self.scheduled = False  # so that the next sender is refused as well
                raise

    def refused(self, item: Any, outcome: Put) -> Exception:
        """Bury an item the mailbox did not take; returns the error for its sender."""
        return refusal(self, item, outcome)

    def bury(self, item: Any, reason: str) -> None:
        """Make an item a dead letter and answer whoever waits for it."""
        bury(self, item, reason)

    def stop_from_outside(self, mode: StopMode) -> Reply[bool]:
        """End the actor for good. See `ActorRef.stop`."""
        reply: Reply[bool] = Reply(self, virtual=self.host.virtual)
        try:
            self.host.loop_thread.post(self._halt_for, reply, mode)
        except SystemEnded:
            reply.settle(False)
        return reply

    def _halt_for(self, reply: Reply[bool], mode: StopMode) -> None:
        if self.state == "stopped":
            reply.settle(False)
            return
        self.stop_replies = [*(self.stop_replies or ()), reply]
        halt(self, Exit("shutdown", "final", self._waiting() if mode == "drain" else -1))

    def _waiting(self) -> int:
        return len(self.mailbox) if self.mailbox is not None else 0

    def cancel_handler(self, reply: Reply[Any]) -> None:
        """Cancel the async handler that runs for this reply, if one does."""
        try:
            self.host.loop_thread.post(self._cancel_current, reply)
        except SystemEnded:
            pass  # every handler has been cancelled with the system

    def _cancel_current(self, reply: Reply[Any]) -> None:
        if self.current is not None and self.current.reply is reply and self.busy is not None:
            self.performer.cancel(self.busy)

    def signal(self, signal: Any) -> None:
        """Hand an order to the present incarnation, past the mailbox."""
        try:
            self.host.loop_thread.post(self._signal, signal)
        except SystemEnded:
            pass  # nothing runs that it could reach

    def _signal(self, signal: Any) -> None:
        if self.state == "running" and self.instance is not None:
            self.as_self(self._take_signal, signal)

    def _take_signal(self, signal: Any) -> None:
        try:
            self.instance.on_signal(signal)
        except BaseException as error:  # noqa: BLE001 - the supervisor decides
            self.raised(None, error)

    # -- handling, on the loop thread ------------------------------------------------------------------

    def run(self) -> int:
        """One turn in the run queue: control first, then at most a slice of messages."""
        self.scheduled = False
        if self.control:
            self._run_control()
        if self.busy is not None or self.state != "running":
            return 1
        return self.performer.take(self) or 1

    def _run_control(self) -> None:
        """Control waits while a handler runs, as messages do, but goes before them."""
        while self.control and self.busy is None and self.state == "running":
            incarnation, function, args = self.control.popleft()
            if incarnation == self.incarnation:
                self._perform(function, args)

    def _perform(self, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        try:
            result = function(self.instance, *args)
        except BaseException as error:  # noqa: BLE001 - the supervisor decides
            self.raised(None, error)
        else:
            if type(result) is CoroutineType:
                self.busy_with(result, self.handler_ended)

    def handler_ended(self, task: asyncio.Future[Any]) -> None:
        """An async handler is done: answer, fail if need be, go on."""
        error = None if task.cancelled() else task.exception()
        if self.busy is not task:
            return  # given up meanwhile; what it returns is nobody's
        self.busy = None
        envelope, self.current = self.current, None
        if task.cancelled():
            self._handler_cancelled(envelope)
        elif error is None:
            self.answer(envelope, task.result())
        else:
            self.raised(envelope, error)
        self.schedule()

    def _handler_cancelled(self, envelope: Envelope | None) -> None:
        """By a stop, by whoever asked, or by something it waited for that was cancelled."""
        if self.exit is None:
            if envelope is None or not envelope.reply.done():
                self.raised(
                    envelope, Cancelled(f"what the handler in {self.path} did was cancelled")
                )
        elif envelope is not None:
            envelope.reply.settle(
                error=ActorDeadError(f"actor {self.path} was stopped while handling it")
            )

    def answer(self, envelope: Envelope | None, result: Any) -> None:
        """A handler returned: answer who asked; a returned background reply answers later."""
        if envelope is None:
            return
        if type(result) is Reply:
            envelope.reply.follow(result)
        else:
            envelope.reply.settle(result)

    def raised(self, envelope: Envelope | None, error: BaseException) -> None:
        """A handler raised: answer who asked, and fail unless that was all."""
        if isinstance(error, asyncio.CancelledError):
            cancelled = Cancelled(f"what the handler in {self.path} did was cancelled")
            cancelled.__cause__, error = error, cancelled
        if not isinstance(error, Exception):
            self.interrupted(error)
            if envelope is not None:
                envelope.reply.settle(
                    error=ActorDeadError(f"{self.path} was interrupted by {error!r}")
                )
            return
        if envelope is not None:
            envelope.reply.settle(error=error)
            if isinstance(error, self.spec.actor.expected_errors):
                return
        self.request_failure(error)

    # -- what an actor asks for ------------------------------------------------------------------------

    def request_stop(self) -> None:
        """The actor ends itself, after what waits now."""
        self._on_loop(self._request, Exit("normal", "ask", self._waiting()), self.incarnation)

    def request_failure(self, error: BaseException) -> None:
        """The actor fails, before its next message."""
        self._on_loop(self._request, Exit(error, "ask"), self.incarnation)

    def _request(self, exit_: Exit, incarnation: int) -> None:
        """Note an exit and let the run queue carry it out: a handler may be on the stack."""
        if incarnation != self.incarnation or self.state not in ("starting", "running"):
            return
        if exit_.reason == "normal" and not restarts(self.spec.restart, "normal"):
            self.close_mailbox()
        self.note_exit(exit_)
        self.schedule()

    def start_background(self, work: Coroutine[Any, Any, Any], label: str) -> Reply[Any]:
        """Begin background work of this incarnation."""
        if not self.host.loop_thread.here():
            work.close()
            raise MisuseError(f"background() of {self.path} was called off the loop thread")
        if self.state not in ("starting", "running"):
            work.close()
            raise ActorDeadError(f"background() of {self.path}: this incarnation is ending")
        background = BackgroundWork(self, self.belonging(), label)
        background.begin(work)
        self.belonging().tasks.add(background)
        return background.reply

    def background_failed(self, error: BaseException, *, asked: bool) -> None:
        """Background work raised: as a handler's error, with or without somebody who asked."""
        if not isinstance(error, Exception):
            self.interrupted(error)
        elif not asked or not isinstance(error, self.spec.actor.expected_errors):
            self.request_failure(error)

    def start_timer(self, delay_s: float, message: Any, every_s: float | None) -> Timer:
        """Send this incarnation a message later, once or again and again."""
        if every_s is not None and not every_s > 0:
            raise MisuseError(
                f"send_every: expected a period of more than 0 seconds, got {every_s!r}"
            )
        timer = Timer(self.host.loop_thread, lambda: self._timer_due(message), every_s)
        self._on_loop(self._arm, timer, delay_s, self.incarnation)
        return timer

    def _arm(self, timer: Timer, delay_s: float, incarnation: int) -> None:
        if incarnation == self.incarnation and self.state in ("starting", "running"):
            self.belonging().timers.add(timer)
            timer.arm(delay_s)

    def _timer_due(self, message: Any) -> None:
        try:
            outcome = self.deliver(WatchNotice(message, self.incarnation))
        except BlockingCallOnLoop:
            outcome = "full"
        if outcome in ("full", "dropped"):
            log.warning("timer_message_dropped", system=self.host.name, actor=self.path)

    def watch(self, ref: ActorRef[Any]) -> None:
        """Have a notice delivered when the other actor ends."""
        self._on_loop(start_watch, self, _cell_of(ref), self.incarnation)

    def unwatch(self, ref: ActorRef[Any]) -> None:
        """Take a watch back."""
        self._on_loop(end_watch, self, _cell_of(ref))

    def _on_loop(self, function: Callable[..., None], *args: Any) -> None:
        if self.host.loop_thread.here():
            function(*args)
        else:
            self.host.loop_thread.post(function, *args)


def _cell_of(ref: Any) -> Cell:
    cell = getattr(ref, "_cell", None)
    if not isinstance(cell, Cell):
        raise MisuseError(f"watch: expected a ref of a greenroom actor, got {ref!r}")
    return cell
