"""Arguments of an MCP tool against the JSON Schema its server wrote, the whole of it.

    check = argument_validator("tool 'read' of server 'files'", schema)     # ToolSchemaError if it is none
    check("mcp_files_read", {"path": 3})            # ValueError: expected string, got integer, at 'path'

Arguments pass unchanged or not at all: nothing is coerced and no default is filled in, as for tools of our
own (gaia 4). What a number or a missing type means is JSON Schema's rule: 1.0 is an integer there, and a
parameter without a type takes anything. `format` is an annotation. What is not checked because checking could
stop the process is in `schema_shape` and `schema_pattern`; the server checks what it gets in any case.

The check is the maintained `jsonschema` library's. It is imported (about 40 ms, once) when the first tool is
called, or listed with a schema that only the library can judge; most schemas are judged without it in about
20 us. Equal schemas share one check, however many agents have the tool.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, cast

import msgspec

from actors.errors import ToolSchemaError
from actors.tools.schema_shape import NAME_LIMIT, Shape, shape_of
from actors.tools.tool import Validator
from actors.tools.validation import json_kind

SIZE_LIMIT: Final = 1024 * 1024
"""Bytes of the largest schema that is taken."""

UNUSUAL_SIZE_LIMIT: Final = 64 * 1024
"""Bytes of the largest schema that the library has to judge: it takes half a second."""

_Check = Callable[[dict[str, Any]], str | None]


def argument_validator(owner: str, schema: Any) -> Validator:
    """What checks the arguments of one tool; `owner` names tool and server in the error.

    Raises:
        ToolSchemaError: it is no JSON Schema of an object, refers to nothing, or is too large or deep.
    """
    if not isinstance(schema, dict):
        raise ToolSchemaError(
            f"{owner}: expected an object as its inputSchema, got {json_kind(schema)}"
        )
    try:
        check = _shared_check(msgspec.json.encode(schema))
    except RecursionError as error:
        raise ToolSchemaError(f"{owner}: its inputSchema is nested too deep") from error
    except (TypeError, ValueError) as error:
        raise ToolSchemaError(
            f"{owner}: its inputSchema cannot be used: {error}; the server's author can mend it"
        ) from error

    def validator(_: str, arguments: Any) -> dict[str, Any]:
        problem = check.problem(arguments)
        if problem is not None:
            raise ValueError(problem)
        return cast("dict[str, Any]", arguments)

    return validator


class _SchemaCheck:
    """One schema and its check, made when it is first needed."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self._check = None if shape.certain else _compiled(shape)

    def problem(self, arguments: Any) -> str | None:
        """Why these arguments cannot be, in half a sentence, or None."""
        if not isinstance(arguments, dict):
            return f"expected an object of arguments, got {json_kind(arguments)}"
        if self._shape.names_limited and _longest_name(arguments) > NAME_LIMIT:
            return f"expected names of at most {NAME_LIMIT} characters"
        if self._check is None:
            self._check = _compiled(self._shape)
        return self._check(arguments)


@lru_cache(maxsize=4096)
def _shared_check(encoded: bytes) -> _SchemaCheck:
    if len(encoded) > SIZE_LIMIT:
        raise ValueError(f"it has {len(encoded)} bytes, at most {SIZE_LIMIT} are taken")
    shape = shape_of(msgspec.json.decode(encoded))
    if not shape.certain and len(encoded) > UNUSUAL_SIZE_LIMIT:
        raise ValueError(
            f"it has {len(encoded)} bytes, at most {UNUSUAL_SIZE_LIMIT} are taken where it uses "
            "more than the plain keywords"
        )
    return _SchemaCheck(shape)


def _compiled(shape: Shape) -> _Check:
    # By name and not by an import at the top, so that only processes with MCP tools pay for the library.
    compiler = importlib.import_module("actors.tools.schema_compiler")
    return cast("_Check", compiler.compiled(shape.schema, sound=shape.certain))


def _longest_name(value: Any) -> int:
    longest, left = 0, [value]
    while left:
        each = left.pop()
        if isinstance(each, dict):
            longest = max(longest, *(len(str(name)) for name in each), 0)
            left += each.values()
        elif isinstance(each, list):
            left += each
    return longest
