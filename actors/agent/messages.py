"""What an agent is told and asked. Only `AgentRef` makes these."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from actors.mcp.config import McpServerConfig
from actors.model.message import Message
from actors.output.events import EventSink
from actors.tools.tool import Tool


class Query(Struct, frozen=True):
    """Run a turn on these messages; the answer is a `TurnResult`. `sink` gets its events as well."""

    messages: tuple[Message, ...]
    max_steps: int = 0
    sink: EventSink | None = None


class CancelTurn(Struct, frozen=True):
    """A signal: end the running turn."""


class ReadHistory(Struct, frozen=True):
    """Ask for a copy of the stored messages."""


class WriteHistory(Struct, frozen=True):
    """Replace the stored messages."""

    messages: tuple[Message, ...]


class ReadConfig(Struct, frozen=True):
    """Ask for the configuration."""


class UpdateConfig(Struct, frozen=True):
    """Change settings, checked as a whole."""

    changes: dict[str, Any]


class ListTools(Struct, frozen=True):
    """Ask for the enabled tools."""


class AddTool(Struct, frozen=True):
    """Register a tool."""

    tool: Tool


class RemoveTool(Struct, frozen=True):
    """Remove a tool by its name."""

    name: str


class ConnectMcp(Struct, frozen=True):
    """Use an MCP server under a name; the answer is whether it could be reached."""

    name: str
    config: McpServerConfig


class DisconnectMcp(Struct, frozen=True):
    """Use an MCP server no more; the answer is whether there was one. None: all of them."""

    name: str | None


class ListMcp(Struct, frozen=True):
    """Ask for the names of the MCP servers in use."""
