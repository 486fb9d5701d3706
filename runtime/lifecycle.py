"""The life of an actor: incarnations begin, end, and begin again, until it stops for good.

States: `starting` (an incarnation is being made), `running`, `ending` (it is being ended), `waiting`
(ended; the supervisor restarts or retires it), `stopped`.

Control for one incarnation is the `exit` slot, not a queue, so a stop or failure meant for one can never
reach the next. What can be done at once is done at once, without a task: starting and stopping an actor
whose hooks are plain functions costs no turn of the loop. Everything here runs on the loop thread.

Ending is bounded: a running handler gets the child's `shutdown` seconds (then it is cancelled, then
given up), the end hook gets as much again. What is given up is named in the log.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from types import CoroutineType
from typing import Any, Literal, Protocol

from runtime.belongings import Belongings
from runtime.childspec import INFINITY, SHUTDOWN_S, ChildSpec
from runtime.errors import ActorDeadError, ChildStartError
from runtime.events import (
    ActorFailed,
    ActorRestarted,
    ActorStarted,
    ActorStopped,
    EventStream,
    log,
)
from runtime.loop import LoopThread
from runtime.mailbox import CLOSED, Envelope, Mailbox
from runtime.ref import ActorRef
from runtime.reply import Reply, VirtualTime
from runtime.waits import CURRENT, Awaited

State = Literal["starting", "running", "ending", "waiting", "stopped"]

Verdict = Literal["final", "ask", "hold"]

GRACE_S = 1.0
"""Seconds that cancelled code has to end before it is given up."""


class Host(Protocol):
    """What a cell needs of the system it lives in."""

    name: str
    loop_thread: LoopThread
    virtual: VirtualTime | None
    events: EventStream
    lock: threading.Lock

    def bury(self, path: str, item: Any, reason: str) -> None:
        """Count and publish a dead letter, and answer whoever waits for it."""

    def forget(self, cell: Any) -> None:
        """The cell has stopped for good: free its name."""

    def root_failed(self, error: BaseException) -> None:
        """The tree has failed as a whole."""

    def interrupted(self, path: str, error: BaseException) -> None:
        """KeyboardInterrupt or SystemExit came out of an actor: stop this system."""

    def abandoned(self, path: str, doing: str) -> None:
        """Code that did not end in time is left to itself: name it."""


class Performer(Protocol):
    """How an actor's code is run: on the loop, or on a thread of its own."""

    def take(self, cell: Any) -> int:
        """Handle waiting messages, at most a slice; how many were taken."""

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Run a hook: its result, or a coroutine to await for it."""

    def cancel(self, running: asyncio.Future[Any]) -> None:
        """Cancel the running handler, if that can be done."""

    def give_up(self) -> None:
        """The running code will not end: take no more from it."""

    def close(self) -> None:
        """The actor has stopped for good."""


class Exit:
    """A request to end the present incarnation.

    `verdict`: `final` (stopped from outside), `ask` (the supervisor decides by `reason`), `hold` (the
    supervisor will restart it by itself). `after`: how many waiting messages are handled first; below
    zero the running one is bounded too.
    """

    __slots__ = ("after", "reason", "verdict")

    def __init__(self, reason: Any, verdict: Verdict, after: int = -1) -> None:
        self.reason = reason
        self.verdict = verdict
        self.after = after


class Life:
    """The part of a cell that starts and ends incarnations. `runtime.cell.Cell` adds the messages."""

    __slots__ = (
        "awaiting",
        "belongings",
        "busy",
        "children",
        "control",
        "current",
        "dynamic",
        "exit",
        "hold_replies",
        "host",
        "incarnation",
        "instance",
        "mailbox",
        "parent",
        "performer",
        "scheduled",
        "spec",
        "start_replies",
        "state",
        "stop_replies",
        "watchers",
    )

    def __init__(
        self, host: Host, spec: ChildSpec, parent: Life | None, performer: Performer
    ) -> None:
        self.awaiting: list[Awaited] | None = None
        self.host = host
        self.spec = spec
        self.parent = parent
        self.performer = performer
        self.state: State = "starting"
        self.instance: Any = None
        self.incarnation = 0
        self.mailbox: Mailbox | None = None
        self.scheduled = False
        self.busy: asyncio.Future[Any] | None = None
        self.current: Envelope | None = None
        self.exit: Exit | None = None
        self.dynamic = True
        self.control: deque[tuple[int, Callable[..., None], tuple[Any, ...]]] | None = None
        self.children: dict[Life, None] | None = {} if spec.actor.supervises else None
        self.belongings: Belongings | None = None
        self.watchers: dict[Life, int] | None = None
        self.start_replies: list[Reply[ActorRef[Any]]] | None = None
        self.stop_replies: list[Reply[bool]] | None = None
        self.hold_replies: list[Reply[None]] | None = None

    # -- what the messages part adds --------------------------------------------------------------

    @property
    def path(self) -> str:
        """Where the actor stands in the tree."""
        raise NotImplementedError

    @property
    def ref(self) -> ActorRef[Any]:
        """The ref of this actor."""
        raise NotImplementedError

    def make_instance(self) -> Any:
        """A new user's instance that knows this cell."""
        raise NotImplementedError

    def schedule(self) -> None:
        """Put the cell into the run queue."""
        raise NotImplementedError

    def notify_watcher(self, watcher: Life, incarnation: int, reason: Any) -> None:
        """Tell a watcher that this actor has ended."""
        raise NotImplementedError

    def bury(self, item: Any, reason: str) -> None:
        """Make an item of the mailbox a dead letter."""
        raise NotImplementedError

    # -- beginning --------------------------------------------------------------------------------

    def launch(self, reason: Any = None) -> None:
        """Begin an incarnation: the first one, or after `reason` a later one."""
        self.state = "starting"
        self._as_self(self._begin, reason)

    def _as_self(self, function: Callable[..., None], *args: Any) -> None:
        """Run code of this actor under its own identity, whoever caused it."""
        token = CURRENT.set(self)
        try:
            function(*args)
        finally:
            CURRENT.reset(token)

    def _begin(self, reason: Any) -> None:
        try:
            pending = self.performer.call(self._open, reason)
        except Exception as error:  # noqa: BLE001 - the supervisor decides
            self._start_failed(error)
        except BaseException as error:  # noqa: BLE001 - an interrupt stops this system, not the loop
            self._interrupted(error)
            self._start_failed(error)
        else:
            if pending is None:
                self._started(reason)
            else:
                self._busy_with(pending, lambda task: self._begun(task, reason))

    def _open(self, reason: Any) -> Coroutine[Any, Any, None] | None:
        """Make the instance and run its first hooks; a coroutine if one of them is async."""
        if self.instance is None:
            self.instance = self.make_instance()
        if reason is not None:
            pending = self.instance.on_restart(reason)
            if type(pending) is CoroutineType:
                return self._open_slowly(pending)
        pending = self.instance.on_start()
        return pending if type(pending) is CoroutineType else None

    async def _open_slowly(self, restarting: Coroutine[Any, Any, None]) -> None:
        await restarting
        pending = self.instance.on_start()
        if type(pending) is CoroutineType:
            await pending

    def _busy_with(
        self, work: Coroutine[Any, Any, Any], then: Callable[[asyncio.Future[Any]], None]
    ) -> None:
        task = self.host.loop_thread.loop.create_task(work)
        self.busy = task
        task.add_done_callback(then)

    def _begun(self, task: asyncio.Future[Any], reason: Any) -> None:
        if self.busy is not task:
            return  # given up meanwhile
        self.busy = None
        error: BaseException | None = (
            ActorDeadError("stopped while starting") if task.cancelled() else task.exception()
        )
        if error is None:
            self._started(reason)
        else:
            self._start_failed(error)

    def _started(self, reason: Any) -> None:
        self.state = "running"
        events = self.host.events
        if events.wants(ActorStarted):
            events.publish(ActorStarted(self.path, self.incarnation))
        if reason is not None and events.wants(ActorRestarted):
            events.publish(ActorRestarted(self.path, self.incarnation, reason))
        self._answer_start(None)
        if self.exit is not None or self.control or self.mailbox:
            self.schedule()

    def _start_failed(self, cause: BaseException) -> None:
        """The incarnation never was: no end hook; a first start is final, a restart is the supervisor's."""
        stopping = self.exit is not None and self.exit.verdict != "ask"
        error = ChildStartError(f"actor {self.path} failed to start: {cause!r}")
        error.__cause__ = cause
        if not stopping:
            log.error(
                "actor_failed",
                system=self.host.name,
                actor=self.path,
                during="start",
                exc_info=cause,
            )
            if self.host.events.wants(ActorFailed):
                self.host.events.publish(ActorFailed(self.path, error))
            verdict: Verdict = "final" if self.incarnation == 0 else "ask"
            self.exit = Exit(error, verdict)
        self._answer_start(error)
        self._ended_with_tasks()

    def _answer_start(self, error: BaseException | None) -> None:
        replies, self.start_replies = self.start_replies, None
        for reply in replies or ():
            reply.settle(self.ref if error is None else None, error)

    def launched(self, reason: Any = None) -> Reply[ActorRef[Any]]:
        """`launch`, and a reply with the ref once it runs, or with `ChildStartError`."""
        reply: Reply[ActorRef[Any]] = Reply(self)
        self.start_replies = [reply] if self.start_replies is None else [*self.start_replies, reply]
        self.launch(reason)
        return reply

    # -- asking for the end -----------------------------------------------------------------------

    def halt(self, exit: Exit) -> None:  # noqa: A002 - the domain's word
        """Ask for the end of the present incarnation. A stronger request replaces a weaker one.

        Never called while a handler of this actor is on the stack: an idle actor ends here and now.
        """
        if self.state == "stopped":
            return
        if exit.verdict == "final":
            self._close_mailbox()
        if self.state == "waiting":
            self._halt_waiting(exit)
            return
        exit_ = self.note_exit(exit)
        if self.state == "starting":
            self._halt_starting()
        elif self.state == "running" and self.busy is None:
            self._halt_idle(exit_)
        elif self.state == "running" and exit_.after < 0:
            self._bound_handler()

    def note_exit(self, exit_: Exit) -> Exit:
        """Record a request; returns the one that counts now."""
        self.exit = exit_ if self.exit is None else _stronger(self.exit, exit_)
        return self.exit

    def _halt_waiting(self, exit_: Exit) -> None:
        if exit_.verdict == "final":
            self._stopped(exit_.reason)
        elif exit_.verdict == "hold":
            self._answer_hold()

    def _halt_starting(self) -> None:
        if self.busy is not None:
            self.busy.cancel()
            if self._shutdown_s != INFINITY:
                self._after(GRACE_S, self._give_up, self.busy, "starting")

    def _halt_idle(self, exit_: Exit) -> None:
        waiting = len(self.mailbox) if self.mailbox is not None else 0
        if exit_.after <= 0 or not waiting:
            self.end()
        else:
            self.schedule()

    def _bound_handler(self) -> None:
        task = self.busy
        if type(self.instance).cancel_on_stop or self._shutdown_s <= 0:
            self._cancel_handler_task(task)
        elif self._shutdown_s != INFINITY:
            self._after(self._shutdown_s, self._cancel_handler_task, task)

    def _cancel_handler_task(self, task: asyncio.Future[Any] | None) -> None:
        if task is not None and self.busy is task:
            self.performer.cancel(task)
            self._after(GRACE_S, self._give_up, task, "handling a message")

    def _give_up(self, task: asyncio.Future[Any], doing: str) -> None:
        if self.busy is not task or task.done():
            return
        self.host.abandoned(self.path, doing)
        self.performer.give_up()
        self.busy = None
        if self.current is not None:
            self.current.reply.settle(
                error=ActorDeadError(f"actor {self.path} was stopped while handling it")
            )
            self.current = None
        if self.state == "starting":
            self._start_failed(ActorDeadError("on_start did not end"))
        elif self.state == "running":
            self.end()
        else:
            self._ended_with_tasks()

    @property
    def _shutdown_s(self) -> float:
        if self.spec.shutdown is not None:
            return self.spec.shutdown
        return INFINITY if self.children is not None else SHUTDOWN_S

    def _after(self, delay_s: float, function: Callable[..., None], *args: Any) -> None:
        self.host.loop_thread.loop.call_later(delay_s, function, *args)

    # -- ending -----------------------------------------------------------------------------------

    def end(self) -> None:
        """End the incarnation now: children, belongings, hook; inline if nothing of it has to wait."""
        self._as_self(self._end)

    def _end(self) -> None:
        exit_ = self.exit
        assert exit_ is not None
        self.state = "ending"
        if isinstance(exit_.reason, BaseException):
            log.error("actor_failed", system=self.host.name, actor=self.path, exc_info=exit_.reason)
            if self.host.events.wants(ActorFailed):
                self.host.events.publish(ActorFailed(self.path, exit_.reason))
        tasks = self.belongings.release() if self.belongings is not None else None
        if tasks or self.children:
            self._busy_with(self._end_slowly(exit_, tasks or set()), self._end_finished)
            return
        pending = self._call_end_hook(exit_)
        if pending is None:
            self._ended()
        else:
            self._busy_with(self._await_hook(pending), self._end_finished)

    def _call_end_hook(self, exit_: Exit) -> Coroutine[Any, Any, Any] | None:
        try:
            pending = self.performer.call(self._end_hook, exit_.reason)
        except Exception:  # noqa: BLE001 - the end goes on
            log.error("end_hook_failed", system=self.host.name, actor=self.path, exc_info=True)
            return None
        except BaseException as error:  # noqa: BLE001 - an interrupt stops this system, not the loop
            self._interrupted(error)
            return None
        return pending if type(pending) is CoroutineType else None

    def _end_hook(self, reason: Any) -> Any:
        if isinstance(reason, BaseException):
            return self.instance.on_failure(type(reason), reason, reason.__traceback__)
        return self.instance.on_stop()

    async def _end_slowly(self, exit_: Exit, tasks: set[asyncio.Task[Any]]) -> None:
        if tasks:
            _, left = await asyncio.wait(
                tasks, timeout=max(GRACE_S, min(self._shutdown_s, SHUTDOWN_S))
            )
            for task in left:
                self.host.abandoned(self.path, f"background task {task.get_name()}")
        if self.children:
            await self.stop_children()
        pending = self._call_end_hook(exit_)
        if pending is not None:
            await self._await_hook(pending)

    async def _await_hook(self, pending: Coroutine[Any, Any, Any]) -> None:
        hook = asyncio.ensure_future(pending)
        bound = None if self._shutdown_s == INFINITY else max(self._shutdown_s, GRACE_S)
        _, left = await asyncio.wait({hook}, timeout=bound)
        if left:
            hook.cancel()
            _, left = await asyncio.wait({hook}, timeout=GRACE_S)
        if left:
            self.host.abandoned(self.path, "its end hook")
            self.performer.give_up()
        elif not hook.cancelled() and hook.exception() is not None:
            log.error(
                "end_hook_failed", system=self.host.name, actor=self.path, exc_info=hook.exception()
            )

    async def stop_children(self) -> None:
        """Stop the children in reverse start order.

        A child of the supervisor's own list is waited for before the next one is told. Dynamic children
        are told in reverse order all at once, so that many busy ones share one `shutdown`.
        """
        told: list[Reply[bool]] = []
        for child in reversed(list(self.children or ())):
            if not child.dynamic:
                await _all(told)
            reply = child.stopped()
            child.halt(Exit("shutdown", "final"))
            if child.state != "stopped":
                told.append(reply)
        await _all(told)

    def _end_finished(self, task: asyncio.Future[Any]) -> None:
        if self.busy is not task:
            return
        if not task.cancelled() and task.exception() is not None:
            log.critical("runtime_fault", actor=self.path, exc_info=task.exception())
        self._ended()

    def _ended_with_tasks(self) -> None:
        if self.belongings is not None:
            self.belongings.release()
        self._ended()

    def _ended(self) -> None:
        """The incarnation is over; what follows is the verdict's."""
        exit_, self.exit = self.exit, None
        assert exit_ is not None
        self.busy = None
        self.instance = None
        self.belongings = None
        self.incarnation += 1
        self.control = None
        self.state = "waiting"
        if exit_.verdict == "final" or self.parent is None:
            self._stopped(exit_.reason)
        elif exit_.verdict == "hold":
            self._answer_hold()
        else:
            self.parent.tell_control(_child_ended, self, self.incarnation, exit_.reason)

    def _answer_hold(self) -> None:
        replies, self.hold_replies = self.hold_replies, None
        for reply in replies or ():
            reply.settle()

    def held(self) -> Reply[None]:
        """A reply that settles when the incarnation has ended under the verdict `hold`."""
        reply: Reply[None] = Reply()
        self.hold_replies = [*(self.hold_replies or ()), reply]
        return reply

    def retire(self, reason: Any) -> None:
        """The supervisor's decision not to restart: the actor has stopped for good."""
        if self.state == "waiting":
            self._stopped(reason)

    def refuse(self) -> None:
        """The supervisor takes no children any more: stopped without ever having started."""
        self.state = "waiting"
        self._stopped("shutdown")

    def abandon(self) -> None:
        """The system ends without waiting: take no message more and answer everyone; from any thread."""
        self._close_mailbox()
        if self.mailbox is not None:
            self.mailbox.drain()
        current, dead = self.current, ActorDeadError(f"actor {self.path} was abandoned at shutdown")
        if current is not None:
            current.reply.settle(error=dead)
        for reply in (*(self.start_replies or ()), *(self.stop_replies or ())):
            reply.settle(error=dead)

    def _stopped(self, reason: Any) -> None:
        self._close_mailbox()
        self.state = "stopped"
        mailbox, self.mailbox = self.mailbox, CLOSED
        if mailbox is not None:
            mailbox.drain()
        if self.parent is not None and self.parent.children is not None:
            self.parent.children.pop(self, None)
        self.performer.close()
        if self.parent is None and isinstance(reason, BaseException):
            self.host.root_failed(reason)
        self.host.forget(self)
        if self.host.events.wants(ActorStopped):
            self.host.events.publish(ActorStopped(self.path, reason))
        watchers, self.watchers = self.watchers, None
        for watcher, incarnation in (watchers or {}).items():
            self.notify_watcher(watcher, incarnation, reason)
        self._answer_hold()
        self._answer_start(ActorDeadError(f"actor {self.path} stopped before it had started"))
        replies, self.stop_replies = self.stop_replies, None
        for reply in replies or ():
            reply.settle(True)

    def _close_mailbox(self) -> None:
        with self.host.lock:
            if self.mailbox is None:
                self.mailbox = CLOSED
        self.mailbox.close()

    def stopped(self) -> Reply[bool]:
        """A reply that settles when the actor has stopped: True, or False if it had already."""
        reply: Reply[bool] = Reply(self)
        if self.state == "stopped":
            reply.settle(False)
        else:
            self.stop_replies = [*(self.stop_replies or ()), reply]
        return reply

    # -- control ------------------------------------------------------------------------------------

    def tell_control(self, function: Callable[..., None], *args: Any) -> None:
        """Have `function(instance, *args)` called by this incarnation before its next message."""
        if self.control is None:
            self.control = deque()
        self.control.append((self.incarnation, function, args))
        self.schedule()

    def _interrupted(self, error: BaseException) -> None:
        self.host.interrupted(self.path, error)


async def _all(replies: list[Reply[bool]]) -> None:
    """Wait for every reply and empty the list."""
    while replies:
        await replies.pop()


def _child_ended(instance: Any, child: Life, incarnation: int, reason: Any) -> None:
    """Runs in the parent's control lane: a supervisor decides."""
    if child.incarnation == incarnation and child.state == "waiting":
        instance.child_ended(child, reason)


def _stronger(first: Exit, second: Exit) -> Exit:
    """Which of two requests counts: final before hold before ask; among equals the sooner one."""
    rank = {"final": 2, "hold": 1, "ask": 0}
    if rank[first.verdict] != rank[second.verdict]:
        strong, weak = (
            (first, second) if rank[first.verdict] > rank[second.verdict] else (second, first)
        )
        return Exit(
            _worse(strong.reason, weak.reason), strong.verdict, min(first.after, second.after)
        )
    return first if first.after <= second.after else second


def _worse(strong: Any, weak: Any) -> Any:
    """A failure stays the reason of an end that was asked for afterwards."""
    return (
        weak
        if isinstance(weak, BaseException) and not isinstance(strong, BaseException)
        else strong
    )
