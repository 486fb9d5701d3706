"""Speaks only a revision of the future."""

from typing import Any

from .peer import Message, Peer


class Future(Peer):
    """See the module."""

    def handle(self, message: Message) -> None:
        """Refuse everything."""
        if "id" in message:
            data: Any = {"supported": ["2031-01-01"]}
            self.refuse(message["id"], -32022, "unsupported", data)


if __name__ == "__main__":
    Future().run()
