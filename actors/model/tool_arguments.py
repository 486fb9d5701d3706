"""Tool arguments a small model made up: taken out before anybody sees them. Pure.

Small models copy pieces of a tool's description into its arguments (`"type": "object"`). What the tool does
not have is dropped; what it has stays as it is, right or wrong, and is for the tool's own check.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode

Known = dict[str, frozenset[str]]
"""Names of tools, and the names of what each takes."""


def known_arguments(tools: Raw) -> Known:
    """What the tools of a request's encoded `tools` array take. A tool open to other names is left out."""
    known: Known = {}
    for tool in _decode(tools):
        function = tool.get("function", {})
        parameters = function.get("parameters", {})
        if not parameters.get("additionalProperties", False):
            known[function.get("name", "")] = frozenset(parameters.get("properties", {}))
    return known


def without_unknown(calls: Any, known: Known) -> Any:
    """The raw tool calls of a reply, without arguments their tools do not have.

    Calls of unknown tools, and what is no call or no JSON object, stay as they are.
    """
    if not isinstance(calls, list | tuple):
        return calls
    return [_cleaned(call, known) for call in calls]


def _cleaned(call: Any, known: Known) -> Any:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return call
    name, arguments = function.get("name"), _object(function.get("arguments"))
    if not isinstance(name, str) or name not in known or arguments is None:
        return call
    kept = {each: value for each, value in arguments.items() if each in known[name]}
    if len(kept) == len(arguments):
        return call
    return {**call, "function": {**function, "arguments": _encode(kept).decode()}}


def _object(arguments: Any) -> dict[str, Any] | None:
    if isinstance(arguments, str):
        try:
            arguments = _decode(arguments)
        except (msgspec.DecodeError, RecursionError):
            return None
    return arguments if isinstance(arguments, dict) else None
