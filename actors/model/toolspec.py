"""How a tool is described to a model: name, purpose, parameters. No code of the tool itself.

The protocols turn a spec into a line of the system prompt or into an entry of the `tools` array;
the registry of `actors.tools` makes specs from tools.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct, field

ParameterType = Literal["string", "integer", "number", "boolean", "array", "object", "unknown"]


class ToolParameter(Struct, frozen=True):
    """One argument of a tool.

    `schema`, when set, is the whole JSON Schema of the argument and is what a native tool protocol
    sends; otherwise type and description are sent (gaia 2.2). `unknown` accepts every value.
    """

    name: str
    type: ParameterType = "string"
    required: bool = True
    description: str = ""
    schema: dict[str, Any] | None = None


class ToolSpec(Struct, frozen=True):
    """A tool as a model sees it; parameters stand in declaration order.

    `definitions` are JSON Schema `$defs` that parameter schemas refer to. `schema`, when set, is the whole
    JSON Schema of the arguments as the tool's server wrote it: a native tool protocol sends what its model
    server takes of it, and the parameters are only what a prompt shows. None for tools of our own.
    """

    name: str
    description: str = ""
    parameters: tuple[ToolParameter, ...] = ()
    definitions: dict[str, Any] = field(default_factory=dict)
    schema: dict[str, Any] | None = None
