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
        if not _default or not _default[0].root.is_alive():  # it has ended, or is about to
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
    global _lock  # noqa: PLW0603 - the thread that held it is gone
    _lock = threading.Lock()
    for system in list(living_systems):
        system.forked()
    _default.clear()


set_default_spawn(_spawn)
atexit.register(_end_default)
os.register_at_fork(after_in_child=_after_fork)
