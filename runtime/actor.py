"""An actor: one object, one mailbox, one message at a time.

    class Counter(Actor):
        def __init__(self) -> None:
            super().__init__()
            self.count = 0

        def on_receive(self, message: Any) -> int:
            self.count += 1
            return self.count

    with ActorSystem() as system:
        counter = system.spawn(Counter)
        counter.tell("one")
        assert counter.ask("two") == 2

`Actor` is a `pykka.Actor`, so `ref.proxy()` and messages from plain pykka actors work. What differs
from pykka: all actors of a system share one event-loop thread, handlers may be `async def`, and a
failure is decided by a supervisor.

An actor's life, one incarnation at a time:

* `__init__` runs for the first incarnation in the thread that calls `spawn`, as in pykka, and an error
  goes to that caller. Later incarnations are made on the loop thread.
* `on_restart(reason)` (later incarnations only), then `on_start`, then messages.
* It ends by `on_stop` (stopped by itself, its supervisor or its ref) or by `on_failure` (an error).

Do not use an actor for what needs no mailbox: a function or a plain object is better unless something
runs at the same time, fails by itself, or has one owner.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, ClassVar, Protocol, Self, cast, get_args

import pykka
import structlog

from runtime.errors import ActorDeadError, MisuseError
from runtime.events import log
from runtime.mailbox import Overflow
from runtime.ref import ActorRef
from runtime.reply import Reply
from runtime.timers import Timer


class Terminated:
    """Sent to a watcher when the watched actor has ended: `ref` and `reason`.

    `reason` is `"normal"` (it stopped itself), `"shutdown"` (it was stopped) or the exception.
    """

    __slots__ = ("reason", "ref")
    __match_args__ = ("ref", "reason")

    def __init__(self, ref: ActorRef[Any], reason: Any) -> None:
        self.ref = ref
        self.reason = reason

    def __repr__(self) -> str:
        return f"Terminated({self.ref!r}, {self.reason!r})"


class Stage(Protocol):
    """What an actor may ask of the cell that runs it."""

    @property
    def ref(self) -> ActorRef[Any]: ...
    @property
    def path(self) -> str: ...
    @property
    def host(self) -> Any: ...
    @property
    def current_instance(self) -> Any: ...
    @property
    def exit(self) -> Any: ...
    def request_stop(self) -> None: ...
    def request_failure(self, error: BaseException) -> None: ...
    def start_background(self, work: Coroutine[Any, Any, Any], label: str) -> Reply[Any]: ...
    def start_timer(self, delay_s: float, message: Any, every_s: float | None) -> Timer: ...
    def watch(self, ref: ActorRef[Any]) -> None: ...
    def unwatch(self, ref: ActorRef[Any]) -> None: ...


_PykkaActor: Any = pykka.Actor
"""The base class without its hook types: pykka's hooks return None, ours may be `async def`."""


class Actor(_PykkaActor):  # type: ignore[misc]  # see above
    """Base class of actors. Override `on_receive` and the hooks; see the module for an actor's life.

    Class settings, each with its default:

    * `capacity` (None: unbounded): most messages the mailbox holds.
    * `overflow` (`"reject"`): what happens to one more; see `runtime.mailbox.BoundedMailbox`.
    * `expected_errors` (every `Exception`): errors of a handler that only go to whoever asked. Any
      other error fails the actor as well, and so does every error nobody asked for.
    * `cancel_on_stop` (False): whether stopping cancels a running async handler at once; otherwise it
      has the child's `shutdown` seconds to end by itself.
    """

    ref_class: ClassVar[type[ActorRef[Any]]] = ActorRef
    capacity: ClassVar[int | None] = None
    overflow: ClassVar[Overflow] = "reject"
    expected_errors: ClassVar[tuple[type[BaseException], ...]] = (Exception,)
    cancel_on_stop: ClassVar[bool] = False
    supervises: ClassVar[bool] = False

    _stage: Stage | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Raises MisuseError naming the class setting that cannot be."""
        super().__init_subclass__(**kwargs)
        if cls.capacity is not None and cls.capacity < 1:
            raise MisuseError(
                f"{cls.__name__}.capacity: expected 1 or more, or None, got {cls.capacity!r}"
            )
        if cls.overflow not in get_args(Overflow):
            raise MisuseError(
                f"{cls.__name__}.overflow: expected one of {', '.join(get_args(Overflow))}, "
                f"got {cls.overflow!r}"
            )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Nothing to do here; overriding classes call it by habit, as with pykka."""

    @classmethod
    def start(cls, *args: Any, **kwargs: Any) -> ActorRef[Self]:
        """Start an actor on the default system, as pykka's `start`.

        The default system is made on first use and ended by `pykka.ActorRegistry.stop_all()`, by
        `default_system().shutdown()`, or when the interpreter exits. Prefer a system of your own.
        """
        if _default_spawn is None:
            raise MisuseError(
                "the default system is not there: import the `runtime` package itself"
            )
        return cast("ActorRef[Self]", _default_spawn(cls, *args, **kwargs))

    # -- who and where --------------------------------------------------------------------------

    @property
    def _life(self) -> Stage:
        stage = self._stage
        if stage is None:
            raise MisuseError(
                f"{type(self).__name__} was made by hand; start it with system.spawn({type(self).__name__}, ...)"
            )
        return stage

    @property
    def _own_life(self) -> Stage:
        """The cell, for what only its present incarnation may ask of it.

        Code of an earlier one may still run: a thread or a task that did not end in time.
        """
        stage = self._life
        present = stage.current_instance
        if present is not None and present is not self:
            raise ActorDeadError(
                f"this incarnation of {stage.path} has ended; a later one runs now"
            )
        return stage

    @property
    def actor_ref(self) -> ActorRef[Self]:
        """The ref of this actor."""
        return cast("ActorRef[Self]", self._life.ref)

    @property
    def actor_urn(self) -> str:
        """The actor's path, under pykka's name for it."""
        return self._life.path

    @property
    def system(self) -> Any:
        """The `ActorSystem` this actor lives in."""
        return self._life.host

    @property
    def log(self) -> structlog.stdlib.BoundLogger:
        """A logger bound to the system's name and the actor's path."""
        return log.bind(system=self._life.host.name, actor=self._life.path)

    @property
    def stopping(self) -> bool:
        """Whether this incarnation is to end.

        By it a handler that was cancelled tells whether its actor is being stopped, or who asked has gone.
        """
        return self._life.exit is not None

    def __str__(self) -> str:
        return f"{type(self).__name__} ({self._stage.path if self._stage else 'not started'})"

    # -- hooks ----------------------------------------------------------------------------------

    def on_receive(self, message: Any) -> Any:
        """Handle one message; what it returns answers an ask. May be `async def`.

        Runs on the loop thread (a `BlockingActor`: on its own). While an async handler awaits, the
        mailbox waits. To free the mailbox return `self.background(coroutine)`. The default logs the
        message as unexpected.
        """
        self.log.warning("unexpected_message", message=type(message).__name__)

    def on_signal(self, signal: Any) -> None:
        """Take an order that does not wait for the mailbox, sent with `ref.signal(...)`.

        Runs on the loop thread at once, also while an async handler of this actor awaits, and only in the
        incarnation that lives then. A plain function; it must be quick. If it raises, the actor fails.
        Use it to interrupt what a handler waits for, not to do work.
        """
        self.log.warning("unexpected_signal", signal=type(signal).__name__)

    def on_start(self) -> Any:
        """Begin an incarnation, before its first message. May be `async def`.

        If it raises, the actor did not start: a first start fails with `ChildStartError`, a failed
        restart counts as one more failure for the supervisor.
        """

    def on_restart(self, reason: Any) -> Any:
        """Begin a later incarnation, before its `on_start`. May be `async def`.

        `reason` is the error that ended the one before, or `"shutdown"` when a neighbour's failure or
        `restart_child` did. Raising is a failed restart.
        """

    def on_stop(self) -> Any:
        """End an incarnation that was stopped, after its last message. May be `async def`.

        Not called after a failure; `on_failure` is (as in pykka). If it raises, the error is logged
        and the stop goes on. It has the child's `shutdown` seconds.
        """

    def on_failure(
        self,
        exception_type: type[BaseException] | None,
        exception_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> Any:
        """End an incarnation that failed, before the supervisor decides. May be `async def`.

        If it raises, that error is logged and the first one stays the reason.
        """

    # -- what an actor can do -------------------------------------------------------------------

    def stop(self) -> None:
        """End this actor normally: what lies in its mailbox now is handled first, as in pykka.

        The supervisor sees the reason `"normal"`: a `permanent` child is restarted, a `transient` or
        `temporary` one is not.
        """
        self._own_life.request_stop()

    def fail(self, error: BaseException) -> None:
        """Fail this actor after the present message, as if a handler nobody asked had raised `error`."""
        self._own_life.request_failure(error)

    def background(
        self, work: Coroutine[Any, Any, Any], *, label: str = "background"
    ) -> Reply[Any]:
        """Run a coroutine as a task of this incarnation; the mailbox goes on at once.

        Returned from a handler, the reply answers the caller when the task ends. Otherwise an error
        of the task fails the actor, unless somebody has asked the reply. The task ends with the
        incarnation (cancelled). Call it on the loop thread.
        """
        try:
            life = self._own_life
        except (ActorDeadError, MisuseError):
            work.close()
            raise
        return life.start_background(work, label)

    def send_after(self, delay_s: float, message: Any) -> Timer:
        """Send this actor a message in `delay_s` seconds; cancelled with the incarnation."""
        return self._own_life.start_timer(delay_s, message, None)

    def send_every(self, period_s: float, message: Any) -> Timer:
        """Send this actor a message every `period_s` seconds; cancelled with the incarnation.

        Periods do not pile up: the next one is counted from the time this one was sent.
        """
        return self._own_life.start_timer(period_s, message, period_s)

    def watch(self, ref: ActorRef[Any]) -> None:
        """Receive `Terminated(ref, reason)` when that actor ends; at once if it is dead already.

        A restart is not an end. Of an actor that is dead already the reason is `"shutdown"`. The watch ends with this incarnation. Watching twice is watching once.
        """
        self._own_life.watch(ref)

    def unwatch(self, ref: ActorRef[Any]) -> None:
        """Take a watch back; a notice that waits in the mailbox already still arrives."""
        self._own_life.unwatch(ref)

    # -- pykka's abstract methods, which this runtime does not use ---------------------------------

    @staticmethod
    def _create_actor_inbox() -> Any:
        raise MisuseError("greenroom actors have a mailbox in their cell; start them with spawn()")

    @staticmethod
    def _create_future() -> Reply[Any]:
        return Reply()

    def _start_actor_loop(self) -> None:
        raise MisuseError("greenroom actors run on a system's loop; start them with spawn()")


_default_spawn: Callable[..., ActorRef[Any]] | None = None


def set_default_spawn(spawn: Callable[..., ActorRef[Any]]) -> None:
    """Tell `Actor.start` where to start actors; called once by `runtime.system`, which stands above."""
    global _default_spawn  # noqa: PLW0603 - pykka's class method has no other way to find a system
    _default_spawn = spawn
