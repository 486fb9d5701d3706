"""A program: the official SDK's client on a server over stdio, to see ours as others see it.

Arguments: `legacy` or `auto`, and the server's command. It lists the tools, calls each of `asked` on standard
input, a JSON array of `[tool, arguments]`, and prints one JSON object. With `"limit"` in place of arguments
it gives that call half a second, which the SDK then cancels. Run with the interpreter of the servers'
environment, the only one that has the SDK.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from mcp import Client, MCPError, StdioServerParameters  # type: ignore[import-not-found]

LIMIT_S = 0.5


async def main(mode: str, command: list[str], asked: list[tuple[str, Any]]) -> dict[str, Any]:
    """What the server lists, answers and tells."""
    news: list[tuple[float, str | None]] = []

    async def progressed(done: float, total: float | None, message: str | None) -> None:
        news.append((done, message))

    parameters = StdioServerParameters(command=command[0], args=command[1:])
    async with Client(parameters, mode=mode) as client:
        listed = await client.list_tools()
        results: list[Any] = []
        for tool, arguments in asked:
            within = LIMIT_S if "limit" in arguments else None
            given = arguments.get("limit", arguments)
            try:
                result = await client.call_tool(
                    tool, given, read_timeout_seconds=within, progress_callback=progressed
                )
                results.append(result.model_dump(mode="json", by_alias=True, exclude_none=True))
            except MCPError as error:
                results.append(str(error))
        return {
            "revision": client.protocol_version,
            "server": client.server_info.name,
            "tools": [tool.name for tool in listed.tools],
            "results": results,
            "news": news,
        }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(sys.argv[1], sys.argv[2:], json.load(sys.stdin)))))
