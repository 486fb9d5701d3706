"""Sends 20,000 notifications before each answer to a call, half of them saying that its tools changed."""

from typing import Any

from .peer import Message, Peer


class Floods(Peer):
    """See the module."""

    def call(self, identity: Any, params: Message) -> None:
        """Flood, then answer."""
        changed = b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n'
        logged = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"x"}}\n'
        self.write((changed + logged) * 10_000)
        super().call(identity, params)


if __name__ == "__main__":
    Floods().run()
