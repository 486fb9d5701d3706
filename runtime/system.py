"""The actor system: one loop thread, one tree of actors, started and stopped as one.

    with ActorSystem() as system:
        ref = system.spawn(Worker, "an argument", name="worker")
        print(ref.ask("work", timeout=5))

A system is a value: two can live in one process and share nothing. The root supervisor has two
children: `/services` for what others stand on (`ensure`), stopped last, and `/user` for what is spawned.
The root is the one actor known to `pykka.ActorRegistry`, so `stop_all()` stops the whole tree in order.

Shutdown is bounded: what exceeds its `shutdown` seconds is cancelled, then abandoned and named in the
log. A system cannot be used after shutdown, nor in a child process after fork: `SystemEnded` says so.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self, TypeVar, cast, overload

import pykka

from runtime.actor import Actor
from runtime.cell import Cell
from runtime.childspec import ChildSpec, Restart
from runtime.deadletters import DeadLetters
from runtime.ending import halt
from runtime.errors import BlockingCallOnLoop, MisuseError, NameTaken, SystemEnded
from runtime.events import ActorAbandoned, EventStream, log
from runtime.exits import Exit
from runtime.loop import LoopThread
from runtime.loopwatch import LoopWatch
from runtime.nursery import Nursery
from runtime.ref import ActorRef
from runtime.registry import Registry
from runtime.shutdown import Shutdown
from runtime.signals import wait_for_signal
from runtime.strategy import Backoff
from runtime.supervisor import Supervisor, SupervisorRef
from runtime.threads import WorkerThreads
from runtime.virtual import VirtualTime
from runtime.waits import on_loop_thread

A = TypeVar("A", bound=Actor)

SHUTDOWN_S = 30.0
"""Default seconds for the whole shutdown, beyond which the rest is abandoned."""

living_systems: weakref.WeakSet[ActorSystem] = weakref.WeakSet()
"""Every system that has not ended, so that a forked child can refuse them."""


class ActorSystem:
    """A tree of actors on one loop thread.

    * `name`: shown in logs and thread names.
    * `uvloop`: True demands it, False refuses it, None (default) uses it where it is installed.
    * `max_restarts`, `window`, `backoff`: of the `/user` supervisor, for actors spawned with a `restart`
      other than `"temporary"`. When it gives up, the system fails: everything is stopped, `failure`
      holds the error, and leaving the `with` block raises `SystemEnded` from it.
    * `loop_watch_s`: a handler that holds the loop longer is logged with its stack; None: no watch.
    """

    clock: Callable[[], float]

    def __init__(
        self,
        name: str = "greenroom",
        *,
        uvloop: bool | None = None,
        max_restarts: int = 3,
        window: float = 5.0,
        backoff: Backoff | None = None,
        loop_watch_s: float | None = 0.5,
        loop_factory: Callable[[], asyncio.AbstractEventLoop] | None = None,
    ) -> None:
        self.name = name
        self.events = EventStream()
        self.registry = Registry()
        self.lock = threading.Lock()
        self.virtual: VirtualTime | None = None
        self.failure: BaseException | None = None
        self.abandoned_work: list[str] = []
        self._letters = DeadLetters(self.events)
        self.loop_thread = LoopThread(name, uvloop=uvloop, loop_factory=loop_factory)
        self.loop_thread.on_interrupt = self._interrupted_loop
        self.clock = self.loop_thread.loop.time
        self._workers: weakref.WeakSet[WorkerThreads] = weakref.WeakSet()
        self._ending = Shutdown(self)
        self._watch: LoopWatch | None = None
        self.loop_thread.start()
        self.nursery = Nursery(self)
        limits = {"max_restarts": max_restarts, "window": window, "backoff": backoff}
        try:
            self._root, self._services, self._user = self.nursery.plant(limits)
        except BaseException:
            self.loop_thread.stop(SHUTDOWN_S)
            raise
        if loop_watch_s is not None:
            self._watch = LoopWatch(
                self.loop_thread, self.events, self.registry, name=name, threshold_s=loop_watch_s
            )
            self._watch.start()
        pykka.ActorRegistry.register(self._root.ref)
        living_systems.add(self)

    # -- actors -----------------------------------------------------------------------------------

    @overload
    def spawn(
        self,
        actor: type[Supervisor],
        *args: Any,
        name: str | None = None,
        supervisor: ActorRef[Any] | None = None,
        restart: Restart = "temporary",
        shutdown: float | None = None,
        **kwargs: Any,
    ) -> SupervisorRef: ...
    @overload
    def spawn(
        self,
        actor: type[A],
        *args: Any,
        name: str | None = None,
        supervisor: ActorRef[Any] | None = None,
        restart: Restart = "temporary",
        shutdown: float | None = None,
        **kwargs: Any,
    ) -> ActorRef[A]: ...

    def spawn(
        self,
        actor: type[Actor],
        *args: Any,
        name: str | None = None,
        supervisor: ActorRef[Any] | None = None,
        restart: Restart = "temporary",
        shutdown: float | None = None,
        **kwargs: Any,
    ) -> ActorRef[Any]:
        """Start an actor and return its ref at once; from any thread and from handlers.

        `args` and `kwargs` go to its `__init__`, which runs here in the caller, as in pykka; `on_start` runs
        on the loop soon after, and messages wait for it. `restart` is `"temporary"` unless told (a
        `ChildSpec` has OTP's `"permanent"`), since what is spawned by hand has no list to come back from.
        `supervisor` is where it belongs; by default the system's `/user`.

        Raises:
            NameTaken, MisuseError: the name or the arguments cannot be.
            SystemEnded: the system runs no actors any more.
            ActorDeadError: the supervisor has ended.
        """
        spec = ChildSpec(actor, args, kwargs or None, name, restart, shutdown)
        parent = self._user if supervisor is None else self.nursery.supervisor(supervisor)
        return self.nursery.spawn(spec, parent)

    def ensure(self, actor: type[A], *args: Any, name: str, **kwargs: Any) -> ActorRef[A]:
        """The living actor of that name, or a new one under `/services`: for what others stand on.

        Services are permanent, restarted with back-off however often they fail, and stopped after
        everything under `/user`.

        Raises MisuseError if the name belongs to an actor of another class.
        """
        while True:
            ref: ActorRef[A] | None = self.registry.get(name)
            if ref is None:
                try:
                    spec = ChildSpec(actor, args, kwargs or None, name)
                    return self.nursery.spawn(spec, self._services)
                except NameTaken:
                    continue  # another thread was faster; take what it made
            if not issubclass(ref.actor_class, actor):
                raise MisuseError(
                    f"{ref.path} is a {ref.actor_class.__name__}, not a {actor.__name__}"
                )
            return ref

    def start_plainly(
        self, actor: type[Actor], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> ActorRef[Any]:
        """Spawn with every argument going to the actor, as `Actor.start` does."""
        spec = ChildSpec(actor, args, kwargs or None, None, "temporary")
        return self.nursery.spawn(spec, self._user)

    @property
    def ended(self) -> bool:
        """Whether the system has shut down."""
        return self._ending.done

    @property
    def root(self) -> SupervisorRef:
        """The root supervisor."""
        return cast("SupervisorRef", self._root.ref)

    @property
    def user(self) -> SupervisorRef:
        """The supervisor of what is spawned without another one."""
        return cast("SupervisorRef", self._user.ref)

    @property
    def dead_letters(self) -> DeadLetters:
        """Messages that nobody handled: how many, and the newest of them."""
        return self._letters

    # -- what cells need (`host.Host`) -----------------------------------------------------------

    def bury(self, path: str, item: Any, reason: str) -> None:
        """Count, keep and publish a dead letter."""
        self._letters.add(path, item, reason)

    def forget(self, cell: Cell) -> None:
        """A cell has stopped for good; with the root the system has."""
        self.registry.remove(cell)
        if cell.parent is None:
            self._root_stopped(cell)

    def interrupted(self, path: str, error: BaseException) -> None:
        """KeyboardInterrupt or SystemExit came out of an actor: stop this system, and only this one."""
        log.warning("interrupted", system=self.name, actor=path, error=repr(error))
        if self.failure is None:
            self.failure = error
        self.request_shutdown()

    def _interrupted_loop(self, error: BaseException) -> None:
        self.interrupted("/", error)

    def abandoned(self, path: str, doing: str) -> None:
        """Name code that did not end in time and is left to itself."""
        log.error("abandoned", system=self.name, actor=path, doing=doing)
        self.abandoned_work.append(f"{path}: {doing}")
        if self.events.wants(ActorAbandoned):
            self.events.publish(ActorAbandoned(path, doing))

    def worker_threads(self, name: str, *, limit: int) -> WorkerThreads:
        """Worker threads that shutdown waits for, within its bounds. Their user closes them."""
        workers = WorkerThreads(self.loop_thread, limit=limit, name=name)
        self._workers.add(workers)
        return workers

    # -- the end ------------------------------------------------------------------------------------

    def request_shutdown(self) -> None:
        """Begin to stop the tree and return at once; from any thread, also from a handler."""
        try:
            self.loop_thread.post(halt, self._root, Exit("shutdown", "final"))
        except SystemEnded:
            pass  # it has ended already

    def shutdown(self, timeout: float | None = None) -> None:
        """Stop the tree in order and wait; what is not done in `timeout` seconds (30) is abandoned.

        Calling it again does nothing. Not on the loop thread: use `request_shutdown` there.
        """
        if on_loop_thread() and self.loop_thread.here():
            raise BlockingCallOnLoop(
                "shutdown() on the loop thread would wait for itself; use request_shutdown()"
            )
        self.request_shutdown()
        if not self._ending.wait(SHUTDOWN_S if timeout is None else timeout):
            self._ending.abandon_rest()
        pykka.ActorRegistry.unregister(self._root.ref)
        if self._watch is not None:
            self._watch.close()
        self._ending.finish(list(self._workers))
        living_systems.discard(self)

    def forked(self) -> None:
        """In a forked child: refuse everything from now on, and make anew what threads may have held."""
        self.lock = threading.Lock()
        self.events = EventStream()
        self._letters = DeadLetters(self.events)
        pykka.ActorRegistry.unregister(self._root.ref)
        self._watch = None
        self._workers = weakref.WeakSet()
        self.registry.forked()
        self._ending.forked()
        living_systems.discard(self)

    def _root_stopped(self, root: Cell) -> None:
        pykka.ActorRegistry.unregister(root.ref)
        self.loop_thread.loop.call_soon(self._ending.stop_loop)

    def run_until_signal(self) -> None:
        """Serve until SIGTERM or SIGINT, then stop the tree in order; a second signal stops at once.

        For the main thread of a daemon. Also returns when the system ends by itself; a failure of it is
        raised as `SystemEnded`.
        """
        wait_for_signal(
            self._ending.wait_done, self.request_shutdown, lambda: self.shutdown(timeout=0.0)
        )
        self.shutdown()
        self._raise_failure()

    def _raise_failure(self) -> None:
        if self.failure is not None and isinstance(self.failure, Exception):
            raise SystemEnded(
                f"the actor system {self.name!r} failed: {self.failure}"
            ) from self.failure

    def root_failed(self, error: BaseException) -> None:
        """The tree has failed as a whole."""
        if self.failure is None:
            self.failure = error

    def __enter__(self) -> Self:
        """The system itself; it runs already."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Shut down; raises `SystemEnded` if the tree had failed and nothing else is being raised."""
        self.shutdown()
        if error is None:
            self._raise_failure()
