"""Writes half an answer to a call and dies."""

import os
from typing import Any

from .peer import Message, Peer


class HalfALine(Peer):
    """See the module."""

    def call(self, identity: Any, params: Message) -> None:
        """Half."""
        self.write(b'{"jsonrpc": "2.0", "id": %d, "result": {"con' % identity)
        os._exit(1)


if __name__ == "__main__":
    HalfALine().run()
