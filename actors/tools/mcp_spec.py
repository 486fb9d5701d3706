"""A tool that an MCP server lists, as a tool of ours (gaia 7): its names, parameters and policy.

Pure: what calls the server is passed in. Nothing a server sends makes this raise but a tool without a
name; what is odd is read as the rule of the seed says, or as "anything".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast, get_args

from actors.errors import ToolSchemaError
from actors.model.toolspec import ParameterType, ToolParameter, ToolSpec
from actors.tools.gate import requires_confirmation
from actors.tools.policy import ToolPolicy
from actors.tools.tool import Tool, ToolOrigin

_TYPES = frozenset(get_args(ParameterType)) - {"unknown"}
_OTHER_WORDS = frozenset(("$ref", "allOf", "anyOf", "const", "enum", "not", "oneOf"))


def mcp_tool(server: str, listed: Any, run: Callable[[Any], Any]) -> Tool:
    """The tool `mcp_<server>_<name>` for an entry of a server's `tools/list`.

    `run` is called with the arguments and asks the server. The policy is the gate's verdict: ALLOW for
    what is proven read-only, else CONFIRM; the registry makes it stricter where its default is.

    Raises:
        ToolSchemaError: the entry is no object or has no name; says which server sent it.
    """
    name = listed.get("name") if isinstance(listed, dict) else None
    if not isinstance(name, str) or not name:
        raise ToolSchemaError(
            f"server {server!r} lists a tool without a name; expected an object with a 'name' "
            "that is a text and not empty"
        )
    return Tool(
        spec=mcp_spec(server, name, listed),
        run=run,
        policy=_policy(name, listed.get("annotations")),
        atomic=True,
        origin=ToolOrigin(server, name),
    )


def mcp_spec(server: str, name: str, listed: dict[str, Any]) -> ToolSpec:
    """What the model is told about the tool; `inputSchema` gives the parameters, in the server's order."""
    description = listed.get("description")
    schema = _object(listed.get("inputSchema"))
    required = schema.get("required")
    names = required if isinstance(required, list) else []
    return ToolSpec(
        f"mcp_{server}_{name}",
        f"[MCP:{server}] {description if isinstance(description, str) else ''}",
        tuple(
            _parameter(each, described, required=each in names)
            for each, described in _object(schema.get("properties")).items()
        ),
        _object(schema.get("$defs")),
    )


def _policy(name: str, annotations: Any) -> ToolPolicy:
    return ToolPolicy.CONFIRM if requires_confirmation(name, annotations) else ToolPolicy.ALLOW


def _parameter(name: str, described: Any, *, required: bool) -> ToolParameter:
    if not isinstance(described, dict):  # `true`, which JSON Schema has for anything, or no schema
        return ToolParameter(name, "unknown", required)
    text = described.get("description")
    kind = _type_of(described)
    whole = described if described.get("type") == kind or _says_type_otherwise(described) else None
    return ToolParameter(name, kind, required, text if isinstance(text, str) else "", whole)


def _type_of(described: dict[str, Any]) -> ParameterType:
    """The declared type; a missing one is `string`, what is no single type we know is `unknown`.

    A schema that says its type in other words (`anyOf`, `enum` ...) is not missing one: calling it
    `string` would refuse the very arguments the server asks for.
    """
    kind = described.get("type")
    if isinstance(kind, str) and kind in _TYPES:
        return cast("ParameterType", kind)
    missing = kind is None and not _says_type_otherwise(described)
    return "string" if missing else "unknown"


def _says_type_otherwise(described: dict[str, Any]) -> bool:
    return isinstance(described.get("type"), list) or bool(_OTHER_WORDS & described.keys())


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
