"""A supervised worker that fails, comes back under the same ref, and loses no message."""

from __future__ import annotations

import logging
from typing import Any

from runtime import Actor, ActorRestarted, ActorSystem, ChildSpec, Supervisor


class Divider(Actor):
    """Divides; a zero nobody asked about is a failure for its supervisor."""

    def on_receive(self, message: Any) -> float:
        """Answer 100 divided by the message."""
        return float(100 / message)


def main() -> None:
    """Let the worker fail and show what its supervisor does."""
    logging.getLogger("greenroom").setLevel(logging.CRITICAL)  # the failure is the point here
    with ActorSystem() as system:
        system.events.subscribe(lambda event: print("restarted:", event.path), ActorRestarted)
        pool = system.spawn(Supervisor, [ChildSpec(Divider, name="divider")], name="pool")
        (divider,) = pool.which_children()
        divider.ref.tell(0)
        print("answer:", divider.ref.ask(4, timeout=5))


if __name__ == "__main__":
    main()
