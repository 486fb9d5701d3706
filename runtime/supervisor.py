"""A supervisor: an actor that starts other actors, in order, and decides what follows when one ends.

    system.spawn(Supervisor, [ChildSpec(Database), ChildSpec(Cache, restart="transient")],
                 strategy="rest_for_one")

Terms and defaults are OTP's. Children start in order and stop in reverse.

Strategy, what is restarted when a child has to be:
* `one_for_one` (default): that child only.
* `one_for_all`: every child; the others are stopped in reverse order first.
* `rest_for_one`: that child and those started after it.

Restart kinds are those of `ChildSpec`. More than `max_restarts` (3) restarts within `window` (5) seconds
and the supervisor stops its children and fails with `RestartsExceeded`: its own supervisor decides. A
child that fails to start again counts as one more restart.

With a `Backoff` a restart waits; the child's mailbox holds its messages meanwhile.

Do not supervise what needs no mailbox, and do not use a supervisor to call its children: it only starts,
restarts and stops them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, ClassVar, cast
from weakref import WeakKeyDictionary

from msgspec import Struct

from runtime.actor import Actor
from runtime.cell import Cell
from runtime.childspec import ChildSpec
from runtime.ending import halt, retire
from runtime.errors import ChildNotFound, ChildStartError, RestartsExceeded
from runtime.exits import Exit
from runtime.ref import ActorRef
from runtime.reply import Reply
from runtime.starting import launch, launched
from runtime.strategy import (
    Backoff,
    RestartIntensity,
    Strategy,
    affected,
    check_strategy,
    restarts,
)
from runtime.waits import check_wait


class StartChild(Struct, frozen=True):
    """Start one more child; the answer is its ref."""

    spec: ChildSpec


class TerminateChild(Struct, frozen=True):
    """Stop a child for good; a child of the supervisor's own list can be restarted by RestartChild."""

    child: str | ActorRef[Any]


class RestartChild(Struct, frozen=True):
    """Start a terminated child of the supervisor's own list, or restart a running one."""

    child: str | ActorRef[Any]


class WhichChildren(Struct, frozen=True):
    """Ask for the children in start order."""


class CountChildren(Struct, frozen=True):
    """Ask how many children there are."""


class ChildInfo(Struct, frozen=True):
    """One child: `state` is `starting`, `running`, `ending` or `waiting` (for its restart)."""

    name: str
    ref: ActorRef[Any]
    actor: type[Actor]
    restart: str
    state: str
    supervisor: bool


class ChildCount(Struct, frozen=True):
    """How many children: all, those that run, those that are supervisors."""

    specs: int
    active: int
    supervisors: int


class SupervisorRef(ActorRef["Supervisor"]):
    """A ref to a supervisor. Plain methods block; on the loop use their awaitable twins (`a...`)."""

    __slots__ = ()

    def start_child(self, spec: ChildSpec, *, timeout: float | None = 60.0) -> ActorRef[Any]:
        """Start a dynamic child and return its ref once its `on_start` has ended.

        It goes through the supervisor's mailbox; `system.spawn(..., supervisor=ref)` does not wait.

        Raises:
            ChildStartError: its `__init__` or `on_start` raised; it is not kept.
            NameTaken, MisuseError: the spec cannot be.
            ActorDeadError: the supervisor has ended.
        """
        return cast("ActorRef[Any]", self.ask(StartChild(spec), timeout=timeout))

    def astart_child(
        self, spec: ChildSpec, *, timeout: float | None = 60.0
    ) -> Reply[ActorRef[Any]]:
        """The awaitable twin of `start_child`."""
        return self.aask(StartChild(spec), timeout=timeout)

    def terminate_child(self, child: str | ActorRef[Any], *, timeout: float | None = 60.0) -> None:
        """Stop a child and wait for its end. Raises ChildNotFound."""
        self.ask(TerminateChild(child), timeout=timeout)

    def aterminate_child(
        self, child: str | ActorRef[Any], *, timeout: float | None = 60.0
    ) -> Reply[None]:
        """The awaitable twin of `terminate_child`."""
        return self.aask(TerminateChild(child), timeout=timeout)

    def restart_child(
        self, child: str | ActorRef[Any], *, timeout: float | None = 60.0
    ) -> ActorRef[Any]:
        """Restart a running child, or start a terminated one of the own list again. Raises ChildNotFound."""
        return cast("ActorRef[Any]", self.ask(RestartChild(child), timeout=timeout))

    def arestart_child(
        self, child: str | ActorRef[Any], *, timeout: float | None = 60.0
    ) -> Reply[ActorRef[Any]]:
        """The awaitable twin of `restart_child`."""
        return self.aask(RestartChild(child), timeout=timeout)

    def which_children(self, *, timeout: float | None = 60.0) -> list[ChildInfo]:
        """The living children in start order."""
        return cast("list[ChildInfo]", self.ask(WhichChildren(), timeout=timeout))

    def awhich_children(self, *, timeout: float | None = 60.0) -> Reply[list[ChildInfo]]:
        """The awaitable twin of `which_children`."""
        return self.aask(WhichChildren(), timeout=timeout)

    def count_children(self, *, timeout: float | None = 60.0) -> ChildCount:
        """How many children live."""
        return cast("ChildCount", self.ask(CountChildren(), timeout=timeout))

    def acount_children(self, *, timeout: float | None = 60.0) -> Reply[ChildCount]:
        """The awaitable twin of `count_children`."""
        return self.aask(CountChildren(), timeout=timeout)


class _BackoffState(Struct):
    """How often a child was restarted in a row, and when it last failed (system clock, seconds)."""

    attempts: int = 0
    failed_at: float = float("-inf")


class Supervisor(Actor):
    """Starts, restarts and stops children. See the module for strategies and limits.

    `max_restarts` restarts are allowed within `window` seconds; `backoff` delays each.

    Raises MisuseError (in the caller of `spawn`) naming the setting that cannot be.
    """

    ref_class: ClassVar[type[ActorRef[Any]]] = SupervisorRef
    cancel_on_stop: ClassVar[bool] = True
    supervises: ClassVar[bool] = True

    def __init__(
        self,
        children: Sequence[ChildSpec] = (),
        *,
        strategy: Strategy = "one_for_one",
        max_restarts: int = 3,
        window: float = 5.0,
        backoff: Backoff | None = None,
    ) -> None:
        super().__init__()
        check_strategy(strategy, max_restarts, window)
        if backoff is not None:
            backoff.check()
        for spec in children:
            spec.check()
        self._specs = list(children)
        self._strategy = strategy
        self._max_restarts = max_restarts
        self._window = window
        self._intensity = RestartIntensity(max_restarts, window)
        self._backoff = backoff
        self._delays: WeakKeyDictionary[Cell, _BackoffState] = WeakKeyDictionary()

    # -- life -----------------------------------------------------------------------------------

    @property
    def _cell(self) -> Cell:
        return cast("Cell", self._life)

    async def on_start(self) -> None:
        """Start the children of the own list in order; if one fails, those before it are stopped."""
        for spec in self._specs:
            await self._start(spec, dynamic=False)

    async def _start(self, spec: ChildSpec, *, dynamic: bool) -> ActorRef[Any]:
        child: Cell = self.system.nursery.make_child(self._cell, spec)
        child.dynamic = dynamic
        return await launched(child)

    # -- requests -------------------------------------------------------------------------------

    def on_receive(self, message: Any) -> Any:
        """Answer the requests of `SupervisorRef`."""
        match message:
            case StartChild(spec):
                return self._start_child(spec)
            case TerminateChild(child):
                return self._terminate(child)
            case RestartChild(child):
                return self._restart_one(child)
            case WhichChildren():
                return [_info(child) for child in self._children()]
            case CountChildren():
                return self._count()
        return super().on_receive(message)

    def _children(self) -> list[Cell]:
        return cast("list[Cell]", list(self._cell.children or ()))

    def _start_child(self, spec: ChildSpec) -> Reply[ActorRef[Any]]:
        child: Cell = self.system.nursery.make_child(self._cell, spec)
        return launched(child)

    def _find(self, wanted: str | ActorRef[Any]) -> Cell:
        cell = self._living(wanted)
        if cell is None:
            raise ChildNotFound(f"supervisor {self._cell.path} has no child {wanted!r}")
        return cell

    def _living(self, wanted: str | ActorRef[Any]) -> Cell | None:
        found: Any = (
            wanted._cell if isinstance(wanted, ActorRef) else self.system.registry.find(wanted)
        )
        return cast("Cell", found) if found in (self._cell.children or ()) else None

    async def _terminate(self, wanted: str | ActorRef[Any]) -> None:
        child = self._find(wanted)
        check_wait(self._cell, child)
        await self._stop_for_good(child)

    async def _restart_one(self, wanted: str | ActorRef[Any]) -> ActorRef[Any]:
        living = self._living(wanted)
        if living is not None:
            check_wait(self._cell, living)
            await self._hold(living)
            if living.state == "waiting":
                return await launched(living, "shutdown")
        for spec in self._specs:
            if spec.name == wanted and spec.name is not None:
                return await self._start(spec, dynamic=False)
        raise ChildNotFound(f"supervisor {self._cell.path} has no child {wanted!r}")

    def _count(self) -> ChildCount:
        children = self._children()
        return ChildCount(
            specs=len(children),
            active=sum(child.state == "running" for child in children),
            supervisors=sum(issubclass(child.actor_type, Supervisor) for child in children),
        )

    # -- decisions ------------------------------------------------------------------------------

    def child_ended(self, child: Cell, reason: Any) -> Any:
        """In the control lane: a child has ended by itself; restart, retire or give up."""
        if not restarts(child.spec.restart, reason):
            self._delays.pop(child, None)
            retire(child, reason)
            return None
        now = self.system.clock()
        if not self._intensity.allows(now):
            return self._give_up(child, reason)
        if self._strategy == "one_for_one" and self._backoff is None:
            launch(child, reason)
            return None
        return self._restart_group(child, reason, self._delay(child, now))

    def _give_up(self, child: Cell, reason: Any) -> None:
        error = RestartsExceeded(
            f"supervisor {self._cell.path}: more than {self._max_restarts} restarts within "
            f"{self._window:g} s; the last was {child.path}: {reason!r}"
        )
        if isinstance(reason, BaseException):
            error.__cause__ = reason
        retire(child, reason)
        self.fail(error)

    def _delay(self, child: Cell, now: float) -> float:
        if self._backoff is None:
            return 0.0
        state = self._delays.setdefault(child, _BackoffState())
        if now - state.failed_at > self._backoff.reset_after:
            state.attempts = 0
        delay = self._backoff.delay(state.attempts)
        state.attempts += 1
        state.failed_at = now + delay
        return delay

    def _restart_group(self, child: Cell, reason: Any, delay_s: float) -> Any:
        """Restart a child, and its neighbours where the strategy says so, after a delay."""
        if self._strategy == "one_for_one":
            self.background(
                self._restart_later(child, reason, delay_s), label="restart"
            ).add_done_callback(_nothing_to_tell)
            return None
        return self._restart_all(child, reason, delay_s)

    async def _restart_later(self, child: Cell, reason: Any, delay_s: float) -> None:
        incarnation = child.incarnation
        await asyncio.sleep(delay_s)
        if child.state == "waiting" and child.incarnation == incarnation:
            launch(child, reason)

    async def _restart_all(self, failed: Cell, reason: Any, delay_s: float) -> None:
        """Stop the affected in reverse order, wait, start them in order, each before the next."""
        group = affected(self._strategy, self._children(), failed)
        for child in reversed(group):
            if child.spec.restart == "temporary" and child is not failed:
                await self._stop_for_good(child)
            elif child is not failed:
                await self._hold(child)
        await asyncio.sleep(delay_s)
        for child in group:
            if child.state != "waiting":
                continue
            try:
                await launched(child, reason if child is failed else "shutdown")
            except ChildStartError:
                if not _is_stopped(child):
                    return  # it has reported that: the group is decided on anew in the control lane

    async def _hold(self, child: Cell) -> None:
        held = child.held()
        halt(child, Exit("shutdown", "hold"))
        await held

    async def _stop_for_good(self, child: Cell) -> None:
        stopped = child.stopped()
        halt(child, Exit("shutdown", "final"))
        await stopped


def _info(child: Cell) -> ChildInfo:
    return ChildInfo(
        name=child.name,
        ref=child.ref,
        actor=child.actor_type,
        restart=child.spec.restart,
        state=child.state,
        supervisor=issubclass(child.actor_type, Supervisor),
    )


def _is_stopped(child: Cell) -> bool:
    return child.state == "stopped"


def _nothing_to_tell(_: Reply[Any]) -> None:
    """A delayed restart answers nobody; a failure of it is the child's own and already told."""
