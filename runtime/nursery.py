"""The nursery: where the actors of one system are made, named and given to their supervisors.

Making a cell and taking its name is safe from any thread; what changes the tree runs on the loop thread.
"""

from __future__ import annotations

import itertools
from typing import Any, Protocol, cast

from runtime.blocking import BlockingActor, OnThread
from runtime.cell import Cell
from runtime.childspec import ChildSpec
from runtime.ending import refuse
from runtime.errors import ActorDeadError, MisuseError, SystemEnded
from runtime.host import Host, Performer
from runtime.onloop import ON_LOOP
from runtime.ref import ActorRef
from runtime.registry import Registry
from runtime.reply import Reply
from runtime.starting import launch, launched
from runtime.strategy import SERVICE_RESTARTS, Backoff
from runtime.supervisor import Supervisor

START_S = 30.0
"""Seconds the root and its two children may take to start; they do nothing that could take long."""

_numbers = itertools.count(1)


class Home(Host, Protocol):
    """What the nursery needs of the system it belongs to."""

    registry: Registry

    @property
    def ended(self) -> bool:
        """Whether the system runs no actors any more."""


class Nursery:
    """See the module. One for each system."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def plant(self, limits: dict[str, Any]) -> tuple[Cell, Cell, Cell]:
        """Make the root with its children `/services` and `/user`, and wait until they run.

        `limits` are the settings of `/user`. Raises MisuseError naming one that cannot be.
        """
        Supervisor(**limits)  # wrong settings are told here, to the caller
        trying = {"max_restarts": SERVICE_RESTARTS, "backoff": Backoff()}
        services = ChildSpec(Supervisor, kwargs=trying, name="services")
        user = ChildSpec(Supervisor, kwargs=limits, name="user")
        spec = ChildSpec(Supervisor, ([services, user],), {"max_restarts": 0}, "root")
        root = self._make(spec, None)
        running: Reply[Any] = Reply()
        self._home.loop_thread.post(lambda: running.follow(launched(root)))
        running.get(timeout=START_S)
        children = cast("list[Cell]", list(root.children or ()))
        return root, children[0], children[1]

    def spawn(self, spec: ChildSpec, parent: Cell) -> ActorRef[Any]:
        """Make an actor, its instance in this thread, and have it started soon. From any thread."""
        cell = self._make(spec, parent)
        try:
            cell.instance = cell.make_instance()
            self._home.loop_thread.post(self._adopt, cell)
        except BaseException:
            self._discard(cell)
            raise
        return cell.ref

    def make_child(self, parent: Cell, spec: ChildSpec) -> Cell:
        """A cell for a supervisor's new child, on the loop thread; the supervisor launches it."""
        cell = self._make(spec, parent)
        assert parent.children is not None
        parent.children[cell] = None
        return cell

    def supervisor(self, ref: ActorRef[Any]) -> Cell:
        """The cell of a living supervisor of this system. Raises MisuseError or ActorDeadError."""
        cell: Any = getattr(ref, "_cell", None)
        ours = isinstance(cell, Cell) and cell.host is self._home
        if not ours or not cell.spec.actor.supervises:
            raise MisuseError(
                f"supervisor: expected the ref of a Supervisor of this system, got {ref!r}"
            )
        if not cell.alive:
            raise ActorDeadError(f"supervisor {cell.path} has stopped; it takes no children")
        return cast("Cell", cell)

    def _make(self, spec: ChildSpec, parent: Cell | None) -> Cell:
        home = self._home
        if home.ended:
            ended = home.loop_thread.ended or f"the actor system {home.name!r} has shut down"
            raise SystemEnded(ended)
        spec.check()
        performer: Performer = ON_LOOP
        if issubclass(spec.actor, BlockingActor):
            performer = OnThread(home, f"{home.name}-{spec.name or spec.actor.__name__}")
        cell = Cell(home, spec, parent, performer, next(_numbers))
        home.registry.add(cell)
        return cell

    def _discard(self, cell: Cell) -> None:
        """It is not to be: free its name; what its `__init__` has sent itself or begun ends."""
        self._home.registry.remove(cell)
        try:
            self._home.loop_thread.post(refuse, cell)
        except SystemEnded:
            pass  # the system has ended: nothing of it runs

    def _adopt(self, cell: Cell) -> None:
        parent = cell.parent
        assert parent is not None
        if parent.state not in ("starting", "running") or parent.children is None:
            refuse(cell)
            return
        parent.children[cell] = None
        launch(cell)
