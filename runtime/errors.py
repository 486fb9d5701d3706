"""The errors of the runtime, by who can act.

    RuntimeFault                    root of everything this layer raises on purpose
    ├── MisuseError                 you used it wrongly
    │   ├── BlockingCallOnLoop      a blocking call on the event-loop thread; names the awaitable form
    │   ├── AskCycle                an ask would close a ring of waiters; shows the ring
    │   ├── NameTaken               an actor of that name lives in this system
    │   └── ChildNotFound           a supervisor has no such child
    ├── SystemEnded                 the system is shut down, failed, or belongs to another process
    ├── MailboxFull                 no room for the message (overflow rule `reject`, or dropped)
    ├── ChildStartError             an actor failed in `__init__`, `on_restart` or `on_start`
    ├── RestartsExceeded            a supervisor gave up: too many restarts in its window
    ├── Cancelled                   the message was taken back before it was answered
    └── ActorDeadError              (pykka's, re-exported) the actor has stopped

`pykka.Timeout` is raised where a wait ran out of time, as pykka does.
"""

from __future__ import annotations

from collections.abc import Sequence

from pykka import ActorDeadError, Timeout

__all__ = [
    "ActorDeadError",
    "AskCycle",
    "BlockingCallOnLoop",
    "Cancelled",
    "ChildNotFound",
    "ChildStartError",
    "MailboxFull",
    "MisuseError",
    "NameTaken",
    "RestartsExceeded",
    "RuntimeFault",
    "SystemEnded",
    "Timeout",
]


class RuntimeFault(Exception):
    """Root of every error the `runtime` package raises on purpose."""


class MisuseError(RuntimeFault):
    """The call can never work as written; the message says what to write instead."""


class BlockingCallOnLoop(MisuseError):
    """A blocking wait on the thread that runs the actors would stop all of them."""


class AskCycle(MisuseError):
    """An ask would close a ring of waiters, so none of them could ever go on.

    `ring` holds the paths of the waiters, the first one repeated at the end.
    """

    def __init__(self, ring: Sequence[str]) -> None:
        self.ring = tuple(ring)
        super().__init__(
            f"ask would wait for itself: {' -> '.join(self.ring)}; "
            "use tell, or answer with self.background(...) so that the mailbox stays free"
        )


class NameTaken(MisuseError):
    """An actor of that name lives in this system; names are unique in a system."""


class ChildNotFound(MisuseError):
    """The supervisor has no child of that name or ref."""


class SystemEnded(RuntimeFault):
    """The actor system no longer runs actors: shut down, failed, or inherited through fork."""


class MailboxFull(RuntimeFault):
    """The mailbox had no room; the message was not, or will not be, handled."""


class ChildStartError(RuntimeFault):
    """An actor failed before it could take a message; `__cause__` is what it raised."""


class RestartsExceeded(RuntimeFault):
    """More than `max_restarts` restarts within `window` seconds; `__cause__` is the last failure."""


class Cancelled(RuntimeFault):
    """The message was taken back by `Reply.cancel()`, or its handler was cancelled."""
