"""Exits when it is asked something before `initialize`."""

import os
import sys
from typing import Any

from .peer import Message, Peer


class ExitsOnProbe(Peer):
    """See the module."""

    def on_server_discover(self, _: Any, __: Message) -> None:
        """Exit."""
        sys.stderr.write("unknown method server/discover\n")
        sys.stderr.flush()
        os._exit(1)


if __name__ == "__main__":
    ExitsOnProbe().run()
