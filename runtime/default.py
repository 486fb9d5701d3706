"""The default system behind `Actor.start`, and what becomes of systems at exit and after fork."""

from __future__ import annotations

import atexit
import os
import threading
from typing import Any

from runtime.actor import Actor, set_default_spawn
from runtime.ref import ActorRef
from runtime.system import ActorSystem, living_systems

AT_EXIT_S = 6.0
"""Seconds the default system has to stop when the interpreter exits."""

_default: list[ActorSystem] = []
_lock = threading.Lock()


def default_system() -> ActorSystem:
    """The system `Actor.start` uses: made on first use, made anew after it has ended."""
    with _lock:
        if not _default or _default[0].ended:
            _default[:] = [ActorSystem("default")]
        return _default[0]


def _spawn(actor: type[Actor], *args: Any, **kwargs: Any) -> ActorRef[Any]:
    return default_system().start_plainly(actor, args, kwargs)


def _end_default() -> None:
    with _lock:
        systems, _default[:] = list(_default), []
    for system in systems:
        system.shutdown(timeout=AT_EXIT_S)


def _after_fork() -> None:
    """In a forked child no system has its thread: refuse instead of hanging."""
    for system in list(living_systems):
        system.loop_thread.end(
            f"the actor system {system.name!r} belongs to process {os.getppid()}, this is a fork of it; "
            "make a system after forking"
        )
        system.loop_thread.awake = False
        for cell in system.registry.cells():
            cell.scheduled = False
    _default.clear()


set_default_spawn(_spawn)
atexit.register(_end_default)
os.register_at_fork(after_in_child=_after_fork)
