"""The state of one actor's life, and who waits for its changes. Transitions are in `starting` and `ending`.

States: `starting` (an incarnation is being made), `running`, `ending` (it is being ended), `waiting`
(ended; the supervisor restarts or retires it), `stopped`.

Control for one incarnation is the `exit` slot, not a queue, so a stop or failure meant for one can never
reach the next. Everything here runs on the loop thread.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Literal

from runtime.belongings import Belongings
from runtime.childspec import INFINITY, SHUTDOWN_S, ChildSpec
from runtime.exits import Exit, stronger
from runtime.host import Host, Performer
from runtime.mailbox import CLOSED, Envelope, Mailbox
from runtime.ref import ActorRef
from runtime.reply import EndReply, Reply
from runtime.waits import CURRENT, Awaited

State = Literal["starting", "running", "ending", "waiting", "stopped"]


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
        "failure",
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
        self.failure: str | None = None
        self.dynamic = True
        self.control: deque[tuple[int, Callable[..., Any], tuple[Any, ...]]] | None = None
        self.children: dict[Life, None] | None = {} if spec.actor.supervises else None
        self.belongings: Belongings | None = None
        self.watchers: dict[Life, int] | None = None
        self.start_replies: list[Reply[ActorRef[Any]]] | None = None
        self.stop_replies: list[Reply[bool]] | None = None
        self.hold_replies: list[Reply[None]] | None = None

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

    def bury(self, item: Any, reason: str) -> None:
        """Make an item of the mailbox a dead letter."""
        raise NotImplementedError

    def belonging(self) -> Belongings:
        """What belongs to the present incarnation, made on first use."""
        if self.belongings is None:
            self.belongings = Belongings()
        return self.belongings

    def as_self(self, function: Callable[..., None], *args: Any) -> None:
        """Run code of this actor under its own identity, whoever caused it."""
        token = CURRENT.set(self)
        loop_thread = self.host.loop_thread
        before, loop_thread.running_now = loop_thread.running_now, self
        try:
            function(*args)
        finally:
            loop_thread.running_now = before
            CURRENT.reset(token)

    def busy_with(
        self, work: Coroutine[Any, Any, Any], then: Callable[[asyncio.Future[Any]], None]
    ) -> None:
        task = self.host.loop_thread.loop.create_task(work)
        self.busy = task
        task.add_done_callback(then)

    def answer_start(self, error: BaseException | None) -> None:
        replies, self.start_replies = self.start_replies, None
        for reply in replies or ():
            reply.settle(self.ref if error is None else None, error)

    def note_exit(self, exit_: Exit) -> Exit:
        """Record a request; returns the one that counts now."""
        self.exit = exit_ if self.exit is None else stronger(self.exit, exit_)
        return self.exit

    @property
    def shutdown_s(self) -> float:
        if self.spec.shutdown is not None:
            return self.spec.shutdown
        return INFINITY if self.children is not None else SHUTDOWN_S

    def answer_hold(self) -> None:
        replies, self.hold_replies = self.hold_replies, None
        for reply in replies or ():
            reply.settle()

    def held(self) -> Reply[None]:
        """A reply that settles when the incarnation has ended under the verdict `hold`."""
        reply: Reply[None] = EndReply(self)
        self.hold_replies = [*(self.hold_replies or ()), reply]
        return reply

    def close_mailbox(self) -> None:
        with self.host.lock:
            if self.mailbox is None:
                self.mailbox = CLOSED
        self.mailbox.close()

    def stopped(self) -> Reply[bool]:
        """A reply that settles when the actor has stopped: True, or False if it had already."""
        reply: Reply[bool] = EndReply(self)
        if self.state == "stopped":
            reply.settle(False)
        else:
            self.stop_replies = [*(self.stop_replies or ()), reply]
        return reply

    def tell_control(self, function: Callable[..., Any], *args: Any) -> None:
        """Have `function(instance, *args)` called by this incarnation before its next message; it may be async."""
        if self.control is None:
            self.control = deque()
        self.control.append((self.incarnation, function, args))
        self.schedule()

    def interrupted(self, error: BaseException) -> None:
        self.host.interrupted(self.path, error)
