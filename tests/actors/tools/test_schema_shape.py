"""The first look at a schema."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator, Draft202012Validator

from actors.model.schema_keywords import FITS, NAMED, ONE, OTHERS, SEVERAL
from actors.tools.schema_shape import DEPTH_LIMIT, shape_of

PLAIN: dict[str, Any] = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {
        "a": {"type": ["string", "null"], "pattern": "^a", "default": None},
        "b": {"type": "array", "items": {"$ref": "#/$defs/B"}, "minItems": 1},
        "c": {"anyOf": [{"enum": [1, None]}, {"const": None}], "x-own": 3},
    },
    "required": ["a"],
    "additionalProperties": False,
    "$defs": {"B": {"type": "object", "properties": {"next": {"$ref": "#"}}}},
}


def test_a_plain_schema_is_certain_and_stays_as_it_is() -> None:
    shape = shape_of(PLAIN)
    assert shape.schema == PLAIN
    assert (shape.certain, shape.names_limited) == (True, False)


@pytest.mark.parametrize(
    ("sent", "used"),
    [
        ({"required": None, "properties": None, "items": None}, {}),
        ({"properties": {"p": {"type": "weird"}}}, {"properties": {"p": {}}}),
        ({"properties": {"p": {"type": ["string", "weird"]}}}, {"properties": {"p": {}}}),
        ({"properties": {"p": {"required": True}}}, {"properties": {"p": {}}}),
        (
            {"properties": {"type": {"type": "string"}}},
            {"properties": {"type": {"type": "string"}}},
        ),
        ({"unevaluatedProperties": False}, {}),
        ({"default": None, "const": None}, {"default": None, "const": None}),
    ],
)
def test_what_means_nothing_is_taken_away(sent: Any, used: Any) -> None:
    before = copy.deepcopy(sent)
    shape = shape_of(sent)
    assert (shape.schema, shape.certain) == (used, True)
    assert sent == before


@pytest.mark.parametrize(
    "schema",
    [
        {"$id": "https://example.com/x"},
        {"$schema": "http://json-schema.org/draft-04/schema#"},
        {"$schema": "https://example.com/own"},
        {"properties": {"p": {"$schema": "https://json-schema.org/draft/2020-12/schema"}}},
        {"properties": {"p": {"$ref": "#/properties/q"}, "q": {}}},
        {"properties": {"p": {"$ref": "#/$defs/none"}}},
        {"properties": {"p": {"$ref": "https://example.com/x"}}},
        {"properties": {"p": {"type": 3}}},
        {"properties": {"p": {"minLength": -1}}},
        {"properties": {"p": "text"}},
        {"properties": []},
        {"properties": {"p": {"items": [{}]}}},
        {"anyOf": []},
        {"enum": []},
        {"required": ["a", "a"]},
        {"dependencies": {}},
    ],
)
def test_what_only_the_library_can_judge_is_not_certain(schema: dict[str, Any]) -> None:
    assert not shape_of(schema).certain


def test_names_are_limited_where_patterns_for_them_are_tried() -> None:
    shape = shape_of({"patternProperties": {"^x-": {}, "^y-[a-z]+$": {}}})
    assert shape.names_limited
    assert "patternProperties" in shape.schema


@pytest.mark.parametrize("pattern", ["^(a+)+$", "(?=x)", "[", "a*a*a*b"])
def test_patterns_for_names_that_are_not_tried_are_taken_away(pattern: str) -> None:
    shape = shape_of({"patternProperties": {"^x-": {}, pattern: {}}, "additionalProperties": False})
    assert (shape.schema, shape.names_limited) == ({}, False)


@pytest.mark.parametrize("kind", ["string", "weird", ["string", "null"], 3, []])
def test_the_root_has_to_be_of_an_object(kind: Any) -> None:
    with pytest.raises(ValueError, match="arguments are an object, but its type is"):
        shape_of({"type": kind})


def test_the_depth_has_a_limit() -> None:
    schema: dict[str, Any] = {}
    for _ in range(DEPTH_LIMIT):
        schema = {"properties": {"p": schema}}
    assert shape_of(schema).certain
    with pytest.raises(ValueError, match=f"nested deeper than {DEPTH_LIMIT} levels"):
        shape_of({"not": schema})


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 3)
    | st.sampled_from(["object", "string", "weird", "#", "#/$defs/a", "^a$"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*FITS, *sorted(NAMED | ONE | SEVERAL | OTHERS), "a", "format"]), inner
        )
    ),
    max_leaves=15,
)


@given(st.dictionaries(st.sampled_from([*FITS, *sorted(NAMED | ONE | SEVERAL)]), values))
def test_what_is_certain_is_valid_for_the_library(schema: dict[str, Any]) -> None:
    try:
        shape = shape_of({**schema, "type": "object", "$schema": None})
    except ValueError:
        return
    if shape.certain:
        Draft202012Validator.check_schema(shape.schema)
        Draft7Validator.check_schema(shape.schema)
