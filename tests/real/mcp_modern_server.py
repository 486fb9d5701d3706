"""A program: a server of the official SDK over Streamable HTTP, at /mcp of the port that is its argument.

Run by `modern_http` with the interpreter of the servers' environment, the only one that has the SDK.
"""

from __future__ import annotations

import asyncio
import sys

# The environment of the tests, which checks the types, does not have the SDK.
from mcp.server import MCPServer  # type: ignore[import-not-found]
from mcp.server.mcpserver import Context  # type: ignore[import-not-found]

STEPS = 10


def echo(text: str) -> str:
    """Give the text back."""
    return text


async def slow(seconds: float, ctx: Context) -> str:
    """Take that many seconds, and report progress ten times meanwhile."""
    for step in range(STEPS):
        await asyncio.sleep(seconds / STEPS)
        await ctx.report_progress(step + 1, STEPS, f"step {step + 1}")
    return f"took {seconds} s"


def failing() -> str:
    """Fail."""
    raise RuntimeError("failing on purpose")


def main() -> None:
    """Serve until a signal ends it."""
    server = MCPServer("modern")
    for tool in (echo, slow, failing):
        server.add_tool(tool)
    server.run(transport="streamable-http", host="127.0.0.1", port=int(sys.argv[1]))


if __name__ == "__main__":
    main()
