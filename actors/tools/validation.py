"""Arguments against declared parameters (gaia 4): what is required is there, types match, extras pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from actors.model.toolspec import ParameterType, ToolSpec

_IS: dict[ParameterType, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list | tuple),
    "object": lambda value: isinstance(value, dict),
    "unknown": lambda _: True,
}


def argument_problem(spec: ToolSpec, args: Any) -> str | None:
    """Why these arguments cannot be, naming tool and parameter; None if they can.

    Null counts as no arguments. A tool without parameters takes anything.
    """
    if not spec.parameters:
        return None
    given = {} if args is None else args
    if not isinstance(given, dict):
        return f"tool {spec.name!r}: expected an object of arguments, got {json_kind(args)}"
    for parameter in spec.parameters:
        if parameter.name not in given:
            if parameter.required:
                return f"tool {spec.name!r}: the required argument {parameter.name!r} is missing"
            continue
        value = given[parameter.name]
        if not _IS[parameter.type](value):
            return (
                f"tool {spec.name!r}: argument {parameter.name!r} must be of type {parameter.type}, "
                f"got {json_kind(value)}"
            )
    return None


def json_kind(value: Any) -> str:
    """What JSON calls the kind of a value."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list() | tuple():
            return "array"
    return "object"
