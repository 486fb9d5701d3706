"""What happens in a system, as typed values on one stream.

For watching, counting and tests: subscribers are called in order, on the loop thread (for a
`DeadLetter` on that of its sender), and must not block. Events that nobody subscribed to are never built. What a person must know (failed, abandoned,
loop blocked) is logged as well, through the standard `logging` logger `greenroom`.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

import structlog
from msgspec import Struct

log: structlog.stdlib.BoundLogger = structlog.wrap_logger(
    logging.getLogger("greenroom"),
    wrapper_class=structlog.stdlib.BoundLogger,
    processors=[
        structlog.stdlib.filter_by_level,
        structlog.contextvars.merge_contextvars,
        structlog.processors.format_exc_info,
        structlog.processors.KeyValueRenderer(key_order=["event", "system", "actor"]),
    ],
)


class ActorStarted(Struct, frozen=True):
    """An actor began an incarnation: `incarnation` is 0 for the first one."""

    path: str
    incarnation: int


class ActorStopped(Struct, frozen=True):
    """An actor has ended for good. `reason` is `normal`, `shutdown` or the error."""

    path: str
    reason: Any


class ActorFailed(Struct, frozen=True):
    """An incarnation ended with an error; its supervisor decides what follows."""

    path: str
    error: BaseException


class ActorRestarted(Struct, frozen=True):
    """A supervisor began a new incarnation after `reason`."""

    path: str
    incarnation: int
    reason: Any


class ActorAbandoned(Struct, frozen=True):
    """Code of an actor did not end in time and runs on, unowned. `doing` says what it was doing."""

    path: str
    doing: str


class DeadLetter(Struct, frozen=True):
    """A message that nobody will handle.

    `reason` is `stopped` (the actor has ended), `overflow` (no room) or `cancelled` (taken back).
    """

    path: str
    message: Any
    reason: str


class LoopBlocked(Struct, frozen=True):
    """A handler held the loop longer than the threshold. `stack` is where it was, innermost last."""

    path: str
    message: str
    held_s: float
    stack: str


Subscriber = Callable[[Any], None]


class EventStream:
    """Subscriptions by event type. Subscribing is safe from any thread."""

    def __init__(self) -> None:
        self._subscribers: dict[type[Any], tuple[Subscriber, ...]] = {}
        self._changing = threading.Lock()

    def subscribe(self, subscriber: Subscriber, *types: type[Any]) -> Callable[[], None]:
        """Call `subscriber(event)` for each event of the given types; returns the unsubscriber.

        An error of a subscriber is logged and does not reach the actor that caused the event.
        """
        with self._changing:
            for kind in types:
                self._subscribers[kind] = (*self._subscribers.get(kind, ()), subscriber)

        def unsubscribe() -> None:
            with self._changing:
                for kind in types:
                    left = (s for s in self._subscribers.get(kind, ()) if s is not subscriber)
                    self._subscribers[kind] = tuple(left)

        return unsubscribe

    def wants(self, kind: type[Any]) -> bool:
        """Whether anybody listens to events of this type: ask before building one."""
        return bool(self._subscribers.get(kind))

    def publish(self, event: Any) -> None:
        """Hand an event to its subscribers, in the order they subscribed."""
        for subscriber in self._subscribers.get(type(event), ()):
            try:
                subscriber(event)
            except Exception:  # an observer must not fail what it observes
                log.exception("subscriber_failed", subject=type(event).__name__)
