"""The headers in which a modern HTTP request says what it is about (MCP 2026-07-28, transports; SEP-2243).

Pure functions. Proxies route by these headers without reading the body; a server refuses a request whose
headers and body disagree. `Mcp-Method` and `Mcp-Name` go with every request, and a tool may ask in its
schema (`x-mcp-header`) that an argument be repeated as `Mcp-Param-...`.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from actors.errors import InvalidArgument

ANNOTATION: Final = "x-mcp-header"
PARAMETER_PREFIX: Final = "Mcp-Param-"

_NAMED_BY: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_TYPES: Final = ("string", "integer", "boolean")
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")  # RFC 9110 section 5.6.2
_PLAIN = re.compile(r"[ -~]*")
_MARK, _MARK_END = "=?base64?", "?="

# Where JSON Schema (2020-12 and before) has schemas within schemas. What is data, such as `default` or
# `enum`, is not looked into, and `$ref` is not followed: what it points at is found in its own place.
_MAPS: Final = frozenset(
    (
        "properties",
        "patternProperties",
        "dependentSchemas",
        "dependencies",
        "$defs",
        "definitions",
    )
)
_SCHEMAS: Final = frozenset(
    (
        *("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "contentSchema"),
        *("items", "prefixItems", "additionalItems", "unevaluatedItems", "contains"),
        *("additionalProperties", "unevaluatedProperties", "propertyNames"),
    )
)

Path = tuple[str, ...]


def encoded(value: str) -> str:
    """`value` as a header can carry it: as it is, or its UTF-8 in Base64 between marks.

    As it is: printable ASCII without blanks at its ends that does not look as if it were encoded.
    """
    if _PLAIN.fullmatch(value) and value == value.strip() and not _looks_encoded(value):
        return value
    return f"{_MARK}{base64.b64encode(value.encode()).decode('ascii')}{_MARK_END}"


def _looks_encoded(value: str) -> bool:
    return value.startswith(_MARK) and value.endswith(_MARK_END)


def standard_headers(method: str, params: Mapping[str, Any]) -> dict[str, str]:
    """`Mcp-Method`, and `Mcp-Name` where the request is about something that has a name or an address."""
    headers = {"Mcp-Method": method}
    name = params.get(_NAMED_BY.get(method, ""))
    if isinstance(name, str):
        headers["Mcp-Name"] = encoded(name)
    return headers


def parameter_headers(schema: Mapping[str, Any]) -> Mapping[Path, str]:
    """Which arguments of a tool are repeated in which headers, by the names that lead to them.

    `{("where", "region"): "Mcp-Param-Region"}` is the argument `region` in the argument `where`.

    Raises:
        ValueError: an annotation breaks a rule; says where and which. Such a tool must not be offered.
    """
    headers: dict[Path, str] = {}
    taken: dict[str, Path] = {}
    for path, at in _schemas(schema):
        if ANNOTATION not in at:
            continue
        if not path:
            raise ValueError(f"{ANNOTATION} stands where no chain of properties leads")
        name = _required_name(path, at)
        other = taken.setdefault(name.lower(), path)
        if other is not path:
            raise ValueError(f"{ANNOTATION} {name!r} is at {_shown(other)} and at {_shown(path)}")
        headers[path] = PARAMETER_PREFIX + name
    return headers


def _schemas(root: Mapping[str, Any]) -> Iterator[tuple[Path | None, Mapping[str, Any]]]:
    """Every schema in a schema, with the properties that lead to it; None if something else does."""
    left: list[tuple[Path | None, Any]] = [((), root)]
    while left:
        path, schema = left.pop()
        if not isinstance(schema, Mapping):
            continue
        yield path, schema
        for keyword, value in schema.items():
            if keyword in _MAPS and isinstance(value, Mapping):
                pure = path is not None and keyword == "properties"
                left += [((*(path or ()), name) if pure else None, value[name]) for name in value]
            elif keyword in _SCHEMAS:
                left += [(None, each) for each in (value if isinstance(value, list) else [value])]


def _required_name(path: Path, schema: Mapping[str, Any]) -> str:
    name, kind = schema[ANNOTATION], schema.get("type")
    where = f"{ANNOTATION} at {_shown(path)}"
    if not (isinstance(name, str) and _TOKEN.fullmatch(name)):
        raise ValueError(f"{where} is {_clipped(name)!r}, expected the end of a header's name")
    if kind not in _TYPES:
        raise ValueError(f"{where} is on type {kind!r}, expected one of {', '.join(_TYPES)}")
    return name


def _clipped(value: object) -> object:
    """As it is, if it is no more than a word."""
    return value[:60] if isinstance(value, str) else type(value).__name__


def _shown(path: Path) -> str:
    return repr(".".join(path))


def argument_headers(mapping: Mapping[Path, str], arguments: Mapping[str, Any]) -> dict[str, str]:
    """The headers for the arguments of a call; none for one that is absent, null or of no plain type.

    `mapping` is that of `parameter_headers`.

    Raises:
        InvalidArgument: no header can hold the argument: a lone surrogate, or thousands of digits.
    """
    headers: dict[str, str] = {}
    for path, header in mapping.items():
        try:
            text = _text(_at(path, arguments))
            if text is not None:
                headers[header] = encoded(text)
        except ValueError as exc:
            raise InvalidArgument(f"the argument {_shown(path)} cannot be sent ({exc})") from exc
    return headers


def _at(path: Path, arguments: Mapping[str, Any]) -> Any:
    value: Any = arguments
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _text(value: Any) -> str | None:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float() if value.is_integer():  # models write 3.0 for an integer
            return str(int(value))
        case str():
            return value
    return None
