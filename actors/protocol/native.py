"""OpenAI's own tool calls: which models take them, how tools are sent, how calls are read (gaia 2)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Literal

import msgspec
from msgspec import Raw

from actors.errors import ModelReplyError, ToolCallError, ToolSchemaError
from actors.model.message import Message, ToolCall
from actors.model.provider import ModelReply
from actors.model.toolspec import ToolParameter, ToolSpec
from actors.protocol.prompt import compose_prompt
from actors.protocol.protocol import Protocol
from actors.protocol.recovery import BLANKS, DEPTH_LIMIT, is_too_deep
from actors.protocol.schema_projection import clipped, project_schema
from actors.protocol.step import PlannedCall, Step

SHOWN_PAYLOAD = 400
"""Most characters of unreadable arguments that an error message shows."""

_TOO_DEEP = f"are nested deeper than {DEPTH_LIMIT} levels"
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")

_MODELS: dict[str, bool] = {
    "Gemma-4-E4B-it-GGUF": True,
    "Qwen3.5-35B-A3B-GGUF": True,
    "Qwen3-0.6B-GGUF": True,
    "Qwen3-VL-4B-Instruct-GGUF": True,
    "Qwen3-8B-GGUF": True,
    "gemma4-it-e2b-FLM": False,
    "user.embeddinggemma-300m-GGUF": False,
    "embed-gemma-300m-FLM": False,
}


def is_tool_calling_model(model: str) -> bool:
    """Whether the table knows the model as one that calls tools; unknown ones do not (gaia 2.1)."""
    return _MODELS.get(model, False)


def use_native(policy: Literal["auto", "always", "never"], model: str) -> bool:
    """Whether tools are sent natively: by policy, by the table where it says `auto`."""
    return policy == "always" or (policy == "auto" and is_tool_calling_model(model))


# -- tools out --------------------------------------------------------------------------------------


def tool_schemas(tools: Iterable[ToolSpec]) -> list[dict[str, Any]]:
    """The `tools` array, to be read only. Raises ToolSchemaError for a name the API does not take."""
    return [_tool_schema(spec) for spec in tools]


def _tool_schema(spec: ToolSpec) -> dict[str, Any]:
    if _NAME.fullmatch(spec.name) is None:
        raise ToolSchemaError(
            f"tool {spec.name!r} ({len(spec.name)} characters) cannot be sent as a native tool: "
            "expected 1 to 64 letters, digits, '_' or '-'; rename it, or set nativeToolCalls: never"
        )
    if spec.schema is not None:
        return _entry(spec.name, clipped(spec.description), _server_parameters(spec.schema))
    return _entry(spec.name, spec.description, parameters_schema(spec))


def parameters_schema(spec: ToolSpec) -> dict[str, Any]:
    """The JSON Schema of a tool's arguments, to be read only; a server's tool has its own."""
    if spec.schema is not None:
        return spec.schema
    parameters: dict[str, Any] = {
        "type": "object",
        "properties": {each.name: _property(each) for each in spec.parameters},
        "required": [each.name for each in spec.parameters if each.required],
    }
    if spec.definitions:
        parameters["$defs"] = spec.definitions
    return parameters


def _entry(name: str, description: str, parameters: Any) -> dict[str, Any]:
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}


def _server_parameters(schema: dict[str, Any]) -> dict[str, Any]:
    return _projection_of(msgspec.json.encode(schema))


@lru_cache(maxsize=1024)
def _projection_of(schema: bytes) -> dict[str, Any]:
    """Made once for all agents that have the tool: each makes its array when its own tools change."""
    return project_schema(msgspec.json.decode(schema))


def _property(parameter: ToolParameter) -> dict[str, Any]:
    if parameter.schema is not None:
        return parameter.schema
    kind = "string" if parameter.type == "unknown" else parameter.type
    described: dict[str, Any] = {"type": kind}
    if parameter.description:
        described["description"] = parameter.description
    return described


# -- calls in ---------------------------------------------------------------------------------------


def parse_call(entry: Any) -> ToolCall:
    """One entry of `tool_calls`, strictly (gaia 2.3).

    Raises ToolCallError saying what is missing, or that its arguments are nested too deep to be text.
    """
    if not isinstance(entry, dict):
        raise ToolCallError(f"tool call: expected an object, got {_kind(entry)}")
    identity = entry.get("id")
    if not isinstance(identity, str) or not identity:
        raise ToolCallError(
            f"tool call: expected an 'id' that is a text and not empty, got {identity!r}"
        )
    function = entry.get("function")
    if not isinstance(function, dict):
        raise ToolCallError(
            f"tool call {identity!r}: expected an object 'function', got {_kind(function)}"
        )
    name = function.get("name")
    if not isinstance(name, str) or not name:
        raise ToolCallError(
            f"tool call {identity!r}: expected a 'function.name' that is not empty, got {name!r}"
        )
    try:
        return ToolCall(identity, name, _raw_arguments(function.get("arguments")))
    except RecursionError as error:
        raise ToolCallError(
            f"arguments of tool {name!r} (call {identity!r}) {_TOO_DEEP}", final=True
        ) from error


def _raw_arguments(value: Any) -> str:
    if isinstance(value, str):
        return value
    return msgspec.json.encode(value).decode() if isinstance(value, dict) else ""


def decode_arguments(call: ToolCall) -> dict[str, Any]:
    """The arguments of a call; blank text is `{}`.

    Raises ToolCallError, final, naming tool, id and the raw payload: they are no JSON object.
    """
    text = call.arguments.strip(BLANKS)
    if not text:
        return {}
    if is_too_deep(text):
        raise _bad_arguments(call, _TOO_DEEP)
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise _bad_arguments(call, f"cannot be read as JSON ({error})") from error
    if not isinstance(value, dict):
        raise _bad_arguments(call, f"are {_kind(value)}, expected a JSON object")
    return value


def _bad_arguments(call: ToolCall, problem: str) -> ToolCallError:
    payload = call.arguments[:SHOWN_PAYLOAD]
    return ToolCallError(
        f"arguments of tool {call.name!r} (call {call.id!r}) {problem}: {payload}", final=True
    )


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "an array"
    return "an object"


class NativeToolCalls:
    """The protocol for models that call tools natively.

    `template` is the reply format used while there is no tool to send (gaia 1.6); `fallback` reads the
    replies that hold no native call, as the prompt protocol does (gaia 1.3g).
    """

    native = True

    def __init__(self, fallback: Protocol) -> None:
        self._fallback = fallback

    def build(self, own_prompt: str, tools: Sequence[ToolSpec]) -> tuple[str, Raw | None]:
        """The prompt with the tools listed, and the `tools` array; without tools as the prompt protocol."""
        if not tools:
            return self._fallback.build(own_prompt, tools)
        schemas = Raw(msgspec.json.encode(tool_schemas(tools)))
        return compose_prompt(own_prompt, tools, ""), schemas

    def read(self, reply: ModelReply) -> Step:
        """Native calls first; a reply without any as the prompt protocol reads it."""
        raw_calls = reply.tool_calls
        if not raw_calls:
            return self._fallback.read(reply)
        if not reply.complete:
            raise ModelReplyError(
                "the stream ended before [DONE]; its tool calls may be cut and are not run"
            )
        if not isinstance(raw_calls, list | tuple):
            raise ToolCallError(f"tool_calls: expected an array, got {_kind(raw_calls)}")
        calls = tuple(parse_call(entry) for entry in raw_calls)
        planned = tuple(PlannedCall(call.name, decode_arguments(call), call.id) for call in calls)
        text = reply.text or ""
        message = Message("assistant", text, tool_calls=calls)
        return Step(message, text, thought=text, calls=planned, native=True)
