"""Keeps calls back until it has four, and answers them last one first."""

from typing import Any

from .peer import Message, Peer


class OutOfOrder(Peer):
    """See the module."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[tuple[Any, Message]] = []

    def on_tools_call(self, identity: Any, params: Message) -> None:
        """Keep it."""
        self.kept.append((identity, params))
        if len(self.kept) == 4:
            for kept in reversed(self.kept):
                self.call(*kept)
            self.kept.clear()


if __name__ == "__main__":
    OutOfOrder().run()
