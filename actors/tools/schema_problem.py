"""What a model is told of arguments that do not fit a schema: `expected string, got integer, at 'edits[0].path'`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, Protocol

import msgspec

from actors.tools.validation import json_kind

SHOWN: Final = 120
"""Most characters of a value that are shown."""


class SchemaMismatch(Protocol):
    """What is asked of an error of the `jsonschema` library."""

    @property
    def validator(self) -> Any:
        """The keyword that does not hold."""

    @property
    def validator_value(self) -> Any:
        """The keyword's value."""

    @property
    def instance(self) -> Any:
        """What it does not hold for."""

    @property
    def schema(self) -> Any:
        """The schema with the keyword."""

    @property
    def absolute_path(self) -> Iterable[str | int]:
        """Where that is."""


def problem_text(error: SchemaMismatch) -> str:
    """The mismatch in half a sentence that names the place, unless it is the whole."""
    path = path_text(error.absolute_path)
    return f"{_expectation(error)}{f', at {path!r}' if path else ''}"


def path_text(path: Iterable[str | int]) -> str:
    """`edits[0].path` for edits, 0, path."""
    text = ""
    for each in path:
        text += f"[{each}]" if isinstance(each, int) else f"{'.' if text else ''}{each}"
    return shortened(text)


def shortened(text: str) -> str:
    """No longer than `SHOWN`."""
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."


def _expectation(error: SchemaMismatch) -> str:
    wanted, got = error.validator_value, error.instance
    match error.validator:
        case "required" if isinstance(wanted, list) and isinstance(got, dict):
            missing = [each for each in wanted if each not in got]
            return f"expected {_names(missing)}, which must be there"
        case "type":
            return _other_kind(wanted if isinstance(wanted, list) else [wanted], got)
        case "enum" if isinstance(wanted, list):
            return f"expected one of {_values(wanted)}, got {_value(got)}"
        case "const":
            return f"expected {_value(wanted)}, got {_value(got)}"
        case "additionalProperties" if wanted is False and isinstance(got, dict):
            known = _properties(error.schema)
            extra = [each for each in got if each not in known]
            return f"expected no {_names(extra)}; known are {_names(known) or 'none'}"
        case "anyOf" | "oneOf":
            kinds = [each.get("type") for each in wanted if isinstance(each, dict)]
            if len(kinds) == len(wanted) and all(isinstance(kind, str) for kind in kinds):
                return _other_kind(kinds, got)
            return f"expected one of the forms that {error.validator} gives, got {_value(got)}"
        case None:
            return f"expected no value where {_value(got)} is given"  # the library gives no path
    return f"expected {error.validator} {_value(wanted)}, got {_value(got)}"


def _other_kind(kinds: list[Any], got: Any) -> str:
    """For alternatives of types; a value of one of them that is refused all the same is shown."""
    kind = json_kind(got)
    shown = _value(got) if kind in kinds else kind
    return f"expected {' or '.join(map(str, kinds))}, got {shown}"


def _properties(schema: Any) -> list[str]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return list(properties) if isinstance(properties, dict) else []


def _names(names: Iterable[str]) -> str:
    return shortened(", ".join(repr(each) for each in names))


def _values(values: list[Any]) -> str:
    return shortened(", ".join(_value(each) for each in values[:SHOWN]))


def _value(value: Any) -> str:
    try:
        return shortened(msgspec.json.encode(value).decode())
    except (TypeError, ValueError, RecursionError):  # a value of a caller's, not of a model's
        return json_kind(value)
