"""Connects to the server its arguments name, and prints what it answers first; then holds the connection.

python owner.py asyncio|uvloop COMMAND ARGS...
"""

import asyncio
import importlib
import sys

from actors.errors import McpConnectionLost
from actors.mcp.config import McpTimeouts, StdioServer
from actors.mcp.jsonrpc import Answer, Incoming
from actors.mcp.stdio import StdioTransport


class Printer:
    """Prints what is received."""

    def received(self, message: Incoming) -> None:
        """An answer."""
        assert isinstance(message, Answer)
        print(*message.result, flush=True)

    def lost(self, error: McpConnectionLost) -> None:
        """Nobody expects it."""
        raise error


async def main() -> None:
    """Hold it."""
    server = StdioServer(sys.argv[2], tuple(sys.argv[3:]))
    await StdioTransport("owned", server, McpTimeouts(shutdown=1.0)).open(Printer())
    await asyncio.Event().wait()


make_loop = importlib.import_module("uvloop").new_event_loop if sys.argv[1] == "uvloop" else None
with asyncio.Runner(loop_factory=make_loop) as runner:
    runner.run(main())
