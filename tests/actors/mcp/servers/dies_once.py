"""Its tool `once` ends the server in its first life. The argument is a file that remembers it."""

import os
import sys
from pathlib import Path
from typing import Any

from .peer import NOTHING, Message, Peer


class DiesOnce(Peer):
    """See the module."""

    def tools(self) -> list[Message]:
        """The one."""
        return [{"name": "once", "inputSchema": NOTHING}]

    def call(self, identity: Any, _: Message) -> None:
        """Die, or not."""
        memory = Path(sys.argv[1])
        if not memory.exists():
            memory.touch()
            os._exit(1)
        self.answer(identity, {"content": [{"type": "text", "text": "alive"}]})


if __name__ == "__main__":
    DiesOnce().run()
