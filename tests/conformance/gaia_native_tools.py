"""The area gaia/native_tools; its scenarios run as those of gaia/agent_loop."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

from msgspec.structs import asdict

from actors.agent.conversation import Conversation
from actors.config import AgentConfig
from actors.model.message import Message, ToolCall
from actors.model.toolspec import ToolParameter, ToolSpec
from actors.protocol import native


def run(given: dict[str, Any], tmp_path: Path) -> Any:
    """One case."""
    match given["op"]:
        case "parse_call":
            return asdict(native.parse_call(given["entry"]))
        case "decode_args":
            call = ToolCall(given["id"], given["name"], given["arguments"])
            return {"args": native.decode_arguments(call)}
        case "is_tool_calling_model":
            return {"value": native.is_tool_calling_model(given["model"])}
        case "use_native":
            return {"value": native.use_native(given["policy"], given["model"])}
        case "schemas":
            return {"schemas": native.tool_schemas(tool_spec(tool) for tool in given["tools"])}
        case "config":
            with patch.dict("os.environ", clear=True):
                return {"config": AgentConfig.from_dict(given["json"]).to_gaia_json()}
        case "set_history":
            conversation = Conversation([read_message(each) for each in given["messages"]])
            return {"history": [shown_message(each) for each in conversation.history()]}
    raise AssertionError(f"unknown op {given['op']!r}")


def tool_spec(tool: dict[str, Any]) -> ToolSpec:
    """A case's tool as a model sees it."""
    parameters = tuple(ToolParameter(**parameter) for parameter in tool["params"])
    return ToolSpec(tool["name"], tool["description"], parameters)


def read_message(given: dict[str, Any]) -> Message:
    """A case's message."""
    calls = tuple(ToolCall(**call) for call in given.get("tool_calls", ()))
    return Message(**{**given, "tool_calls": calls})


def shown_message(message: Message) -> dict[str, Any]:
    """A message as the cases write it: only what is set."""
    shown: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.name is not None:
        shown["name"] = message.name
    if message.tool_call_id is not None:
        shown["tool_call_id"] = message.tool_call_id
    if message.tool_calls:
        shown["tool_calls"] = [asdict(call) for call in message.tool_calls]
    return shown
