"""The keywords of JSON Schema as far as tools use them: where schemas stand inside a schema, what values fit.

From the drafts 06 to 2020-12, which agree on all of these. What is not listed here is either an annotation
that any value fits, or one of `OTHERS`: keywords with rules of their own that only a whole JSON Schema
library knows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

ONE: Final = frozenset(
    (
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    )
)
"""Keywords whose value is a schema."""

SEVERAL: Final = frozenset(("allOf", "anyOf", "oneOf", "prefixItems"))
"""Keywords whose value is an array of schemas, at least one."""

NAMED: Final = frozenset(
    ("$defs", "definitions", "dependentSchemas", "patternProperties", "properties")
)
"""Keywords whose value is an object of schemas."""

OTHERS: Final = frozenset(
    (
        "$anchor",
        "$dynamicAnchor",
        "$dynamicRef",
        "$id",
        "$recursiveAnchor",
        "$recursiveRef",
        "$vocabulary",
        "additionalItems",
        "dependencies",
        "dependentRequired",
        "disallow",
        "divisibleBy",
        "extends",
        "id",
    )
)
"""Keywords with rules of their own, or of old drafts."""

TYPES: Final = frozenset(("array", "boolean", "integer", "null", "number", "object", "string"))
"""What `type` may say."""


def is_type(value: Any) -> bool:
    """Whether it fits `type`: a known name, or several, each once."""
    if isinstance(value, str):
        return value in TYPES
    return _are_texts(value) and bool(value) and TYPES.issuperset(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_positive(value: Any) -> bool:
    return _is_number(value) and value > 0


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _are_texts(value: Any) -> bool:
    return (
        isinstance(value, list)
        and all(isinstance(each, str) for each in value)
        and len(set(value)) == len(value)
    )


def _are_values(value: Any) -> bool:
    return isinstance(value, list) and bool(value)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


FITS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "$comment": _is_text,
    "$ref": _is_text,
    "$schema": _is_text,
    "contentEncoding": _is_text,
    "contentMediaType": _is_text,
    "deprecated": _is_truth,
    "description": _is_text,
    "enum": _are_values,
    "examples": _is_list,
    "exclusiveMaximum": _is_number,
    "exclusiveMinimum": _is_number,
    "format": _is_text,
    "maxContains": _is_count,
    "maxItems": _is_count,
    "maxLength": _is_count,
    "maxProperties": _is_count,
    "maximum": _is_number,
    "minContains": _is_count,
    "minItems": _is_count,
    "minLength": _is_count,
    "minProperties": _is_count,
    "minimum": _is_number,
    "multipleOf": _is_positive,
    "pattern": _is_text,
    "readOnly": _is_truth,
    "required": _are_texts,
    "title": _is_text,
    "type": is_type,
    "uniqueItems": _is_truth,
    "writeOnly": _is_truth,
}
"""Keywords with plain values, and whether a value fits."""
