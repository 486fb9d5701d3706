"""What an agent would make of the tools an MCP server lists: their names, what the gate says, what is left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from actors.errors import ToolExists, ToolSchemaError
from actors.tools.mcp_spec import mcp_tool
from actors.tools.registry import ToolRegistry
from actors.tools.tool import Tool


class Verdict(Struct, frozen=True):
    """A tool as the server lists it, and the agent's; None with the `problem` that leaves it out."""

    listed: dict[str, Any]
    tool: Tool | None
    problem: str = ""

    @property
    def name(self) -> str:
        """What the server calls it."""
        return str(self.listed.get("name"))


def verdicts(server: str, tools: Iterable[dict[str, Any]]) -> Iterator[Verdict]:
    """A verdict on each tool of a server, in its order."""
    registry = ToolRegistry()
    for listed in tools:
        try:
            tool = mcp_tool(server, listed, _never_called)
            registry.register(tool)
        except (ToolExists, ToolSchemaError) as error:
            yield Verdict(listed, None, str(error))
        else:
            yield Verdict(listed, tool)


def _never_called(_: Any) -> Any:
    raise AssertionError("tools are only looked at here")
