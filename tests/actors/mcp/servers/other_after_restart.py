"""Lists the tool `once` only in its first life. Its argument is a file that remembers it."""

import sys
from pathlib import Path

from .peer import NOTHING, Message, Peer


class OtherAfterRestart(Peer):
    """See the module."""

    again = False

    def tools(self) -> list[Message]:
        """One less in later lives."""
        names = ["die", "pid"] if self.again else ["die", "pid", "once"]
        return [{"name": name, "inputSchema": NOTHING} for name in names]


if __name__ == "__main__":
    memory = Path(sys.argv[1])
    OtherAfterRestart.again = memory.exists()
    memory.touch()
    OtherAfterRestart().run()
