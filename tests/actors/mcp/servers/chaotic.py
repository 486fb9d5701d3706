"""A good server, not too quick, that can be told by signals to close its output (SIGUSR1) or its input (SIGUSR2)."""

import os
import signal
import time
from typing import Any

from .peer import Message, Peer

WORK_S = 0.1


class Chaotic(Peer):
    """See the module."""

    def tool_echo(self, arguments: Message, meta: Message) -> str:
        """Take a while."""
        time.sleep(WORK_S)
        return super().tool_echo(arguments, meta)


def close(number: int) -> Any:
    """A handler that closes a descriptor."""

    def handler(*_: object) -> None:
        try:
            os.close(number)
        except OSError:
            pass  # closed before

    return handler


if __name__ == "__main__":
    signal.signal(signal.SIGUSR1, close(1))
    signal.signal(signal.SIGUSR2, close(0))
    Chaotic().run()
