"""A plain pykka actor and a greenroom actor that talk to each other, each in its own way."""

from __future__ import annotations

from typing import Any

import pykka

from runtime import Actor, ActorSystem, as_reply


class Shouter(pykka.ThreadingActor):
    """A plain pykka actor on a thread of its own."""

    def on_receive(self, message: Any) -> str:
        """Answer in capitals."""
        return str(message).upper()


class Greeter(Actor):
    """A greenroom actor that asks the pykka actor without holding the loop."""

    def __init__(self, shouter: pykka.ActorRef[Shouter]) -> None:
        super().__init__()
        self._shouter = shouter

    async def on_receive(self, message: Any) -> str:
        """Greet, loudly."""
        loud = await as_reply(self._shouter.ask(message, block=False))
        return f"hello {loud}"


def main() -> None:
    """Ask across both kinds of actors, and stop everything with pykka's own call."""
    system = ActorSystem()
    greeter = system.spawn(Greeter, Shouter.start())
    print(greeter.ask("world", timeout=5))
    pykka.ActorRegistry.stop_all()
    system.shutdown()


if __name__ == "__main__":
    main()
