"""A tool that an MCP server lists, as a tool of ours (gaia 7): its names, parameters, checks and policy.

Pure: what calls the server is passed in. Nothing a server sends makes this raise but a tool that has no name
or no schema that can be used, and such a tool is to be left out without harm to its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, cast, get_args

import msgspec
from msgspec.structs import replace

from actors.errors import ToolSchemaError
from actors.model.toolspec import ParameterType, ToolParameter, ToolSpec
from actors.tools.gate import requires_confirmation
from actors.tools.json_schema import argument_validator
from actors.tools.names import exposed_name
from actors.tools.policy import ToolPolicy
from actors.tools.tool import Tool, ToolOrigin

_TYPES = frozenset(get_args(ParameterType)) - {"unknown"}
_OTHER_WORDS = frozenset(("$ref", "allOf", "anyOf", "const", "enum", "not", "oneOf"))


def mcp_tool(
    server: str, listed: Any, run: Callable[[Any], Any], *, timeout_s: float | None = 120.0
) -> Tool:
    """The tool for an entry of a server's `tools/list`; see `exposed_name` for what it is called.

    `run` is called with the arguments and asks the server. The policy is the gate's verdict: ALLOW for
    what is proven read-only, else CONFIRM; the registry makes it stricter where its default is. Arguments
    are checked against the server's schema; a missing one takes anything that is an object.

    What the server says of the tool decides what may happen twice or at the same time: `readOnlyHint`
    makes it parallel_safe, that or `idempotentHint` makes it idempotent. For the others the order of the
    model's calls is kept. These are hints: a server that lies harms its own state.

    What is the same for all who list it is kept once: thousands of agents may share a server.

    Raises:
        ToolSchemaError: the entry is no object or has no name, or its `inputSchema` is none; says which
            server sent it.
    """
    try:
        entry = msgspec.json.encode(listed)
    except (TypeError, ValueError, RecursionError):  # it did not come as JSON, or is too deep
        return replace(_made(server, listed), run=run, timeout_s=timeout_s)
    return replace(_shared(server, entry), run=run, timeout_s=timeout_s)


@lru_cache(maxsize=2048)
def _shared(server: str, entry: bytes) -> Tool:
    return _made(server, msgspec.json.decode(entry))


def _made(server: str, listed: Any) -> Tool:
    """The tool, with nothing to run yet."""
    name = listed.get("name") if isinstance(listed, dict) else None
    if not isinstance(name, str) or not name:
        raise ToolSchemaError(
            f"server {server!r} lists a tool without a name; expected an object with a 'name' "
            "that is a text and not empty"
        )
    schema = listed.get("inputSchema")
    validator = argument_validator(
        f"tool {name!r} of server {server!r}", {} if schema is None else schema
    )
    read_only = _says(listed, "readOnlyHint")
    return Tool(
        spec=mcp_spec(server, name, listed),
        run=_not_bound,
        policy=_policy(name, listed.get("annotations")),
        validator=validator,
        parallel_safe=read_only,
        idempotent=read_only or _says(listed, "idempotentHint"),
        atomic=True,
        origin=ToolOrigin(server, name),
    )


def _not_bound(_: Any) -> Any:
    raise AssertionError("a tool was called that has nothing to run")


def mcp_spec(server: str, name: str, listed: dict[str, Any]) -> ToolSpec:
    """What the model is told about the tool.

    The server's `inputSchema` as it is; and its properties as parameters, in the server's order, for
    prompts that show a tool in one line.
    """
    description = listed.get("description")
    schema = _object(listed.get("inputSchema"))
    required = schema.get("required")
    names = (
        {each for each in required if isinstance(each, str)} if isinstance(required, list) else {}
    )
    return ToolSpec(
        exposed_name(server, name),
        f"[MCP:{server}] {description if isinstance(description, str) else ''}",
        tuple(
            _parameter(each, described, required=each in names)
            for each, described in _object(schema.get("properties")).items()
        ),
        _object(schema.get("$defs")),
        schema,
    )


def _says(listed: dict[str, Any], hint: str) -> bool:
    return _object(listed.get("annotations")).get(hint) is True


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
