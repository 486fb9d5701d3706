"""How a supervisor is to treat a child: what to start, when to restart, how long to wait at the end.

Terms and defaults are OTP's (`supervisor:child_spec()`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from msgspec import Struct

from runtime.actor import Actor
from runtime.errors import MisuseError

Restart = Literal["permanent", "transient", "temporary"]

SHUTDOWN_S = 5.0
"""Default seconds a child has to stop (OTP: 5000 ms for workers)."""

INFINITY = float("inf")


class ChildSpec(Struct, frozen=True, kw_only=False):
    """One child of a supervisor.

    * `actor`: the class; `args` and `kwargs` go to its `__init__`, anew for each incarnation, so they
      must not be used up by one.
    * `name`: unique in the system; made from the class where none is given.
    * `restart`: `permanent` (default): always restarted. `transient`: restarted only after a failure.
      `temporary`: never restarted, and forgotten when it ends.
    * `shutdown`: seconds it has to stop; then its handler or hook is cancelled, and what still runs is
      abandoned and named in the log. None (default): 5 seconds, for a supervisor infinity, since its
      children are bounded each. 0 cancels at once.
    """

    actor: type[Actor]
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] | None = None
    name: str | None = None
    restart: Restart = "permanent"
    shutdown: float | None = None

    def check(self) -> None:
        """Raises MisuseError naming the field that cannot be."""
        kind: Any = self.actor
        if not (isinstance(kind, type) and issubclass(kind, Actor)):
            raise MisuseError(
                f"ChildSpec.actor: expected a subclass of runtime.Actor, got {self.actor!r}; "
                "plain pykka actors cannot be supervised"
            )
        if self.restart not in get_args(Restart):
            raise MisuseError(
                f"ChildSpec.restart: expected one of {', '.join(get_args(Restart))}, got {self.restart!r}"
            )
        if self.shutdown is not None and not self.shutdown >= 0:
            raise MisuseError(
                f"ChildSpec.shutdown: expected seconds >= 0 or None, got {self.shutdown!r}"
            )
        if self.name is not None and (not self.name or "/" in self.name):
            raise MisuseError(
                f"ChildSpec.name: expected a non-empty name without '/', got {self.name!r}"
            )
