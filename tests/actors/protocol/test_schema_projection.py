"""Schemas of servers as model servers take them."""

from __future__ import annotations

import copy
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.model.schema_keywords import FITS, NAMED, ONE, SEVERAL
from actors.model.toolspec import ToolParameter, ToolSpec
from actors.protocol.native import tool_schemas
from actors.protocol.schema_projection import DEPTH_LIMIT, DESCRIPTION_LIMIT, project_schema

TEXT = {"type": "string"}
NUMBER = {"type": "number"}
KEYWORDS = [*sorted(NAMED | ONE | SEVERAL), *FITS, "additionalItems", "a"]


def projected(schema: dict[str, Any]) -> dict[str, Any]:
    """The projection, with what holds for every one of them checked."""
    before = copy.deepcopy(schema)
    found = project_schema(schema)
    assert schema == before
    assert project_schema(found) == found
    assert found["type"] == "object"
    assert isinstance(found["properties"], dict)
    return found


def projected_property(described: Any, **root: Any) -> Any:
    return projected({"properties": {"p": described}, **root})["properties"]["p"]


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"properties": None, "required": None}])
def test_a_schema_without_parameters_is_an_object_without_properties(
    schema: dict[str, Any],
) -> None:
    assert projected(schema) == {"type": "object", "properties": {}, "required": []}


def test_what_is_fine_stays() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "array", "items": {"$ref": "#/$defs/P"}, "minItems": 1},
            "b": {"anyOf": [TEXT, {"type": "null"}], "default": None, "description": "b"},
            "c": {"enum": ["x", 1, None], "x-own": {"k": 1}},
            "d": {"type": "string", "pattern": "^[a-z]{2}-[0-9]+$"},
        },
        "required": ["a"],
        "additionalProperties": False,
        "$defs": {"P": {"type": "object", "properties": {"next": {"$ref": "#/$defs/P"}}}},
    }
    assert projected(schema) == schema


def test_the_roots_identity_is_left_out() -> None:
    found = projected(
        {"$schema": "http://json-schema.org/draft-07/schema#", "$id": "x", "title": "t"}
    )
    assert found == {"title": "t", "type": "object", "properties": {}, "required": []}


@pytest.mark.parametrize(
    ("described", "sent"),
    [
        ({"type": "array"}, {"type": "array", "items": {}}),
        ({"type": ["array", "null"]}, {"type": ["array", "null"], "items": {}}),
        ({"type": "array", "items": True}, {"type": "array", "items": {}}),
        (
            {"type": "array", "items": [TEXT, NUMBER], "additionalItems": False},
            {"type": "array", "items": {}, "prefixItems": [TEXT, NUMBER]},
        ),
        ({"type": "any"}, {}),
        ({"type": None, "description": "d"}, {"description": "d"}),
        ({"type": "string", "required": True}, TEXT),
        ({"type": "string", "enum": []}, TEXT),
        (
            {"type": "number", "minimum": 1, "exclusiveMinimum": True},
            {"type": "number", "exclusiveMinimum": 1},
        ),
        (
            {"type": "number", "maximum": 1, "exclusiveMaximum": False},
            {"type": "number", "maximum": 1},
        ),
        (True, {}),
        (None, {}),
        ("text", {}),
        ({"properties": {"never": False, "q": TEXT}}, {"properties": {"q": TEXT}}),
        ({"anyOf": []}, {}),
        ({"anyOf": [TEXT, "odd"]}, {"anyOf": [TEXT, {}]}),
    ],
)
def test_what_model_servers_refuse_is_written_so_that_they_do_not(
    described: Any, sent: Any
) -> None:
    assert projected_property(described) == sent


@pytest.mark.parametrize(
    "pattern", [r"\d+", "^a", "a$", r"^\d+$", r"^(?:a|b)$", r"^[\w-]+$", "^(?=a).*$"]
)
def test_a_pattern_that_llama_cpp_refuses_is_left_out(pattern: str) -> None:
    assert projected_property({"type": "string", "pattern": pattern}) == TEXT


def test_a_property_may_be_called_like_a_keyword() -> None:
    properties = {"$ref": TEXT, "type": TEXT, "pattern": TEXT, "required": NUMBER, "anyOf": TEXT}
    assert projected({"properties": properties})["properties"] == properties


# -- references -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reference",
    [
        "https://example.com/s.json",
        "other.json",
        "#/$defs/none",
        "#anchor",
        "#/$defs/loop",
        "#/$defs/odd",
        3,
    ],
)
def test_a_reference_that_leads_to_no_schema_is_left_out(reference: Any) -> None:
    definitions = {
        "loop": {"$ref": "#/$defs/loop2"},
        "loop2": {"$ref": "#/$defs/loop"},
        "odd": {"enum": 3},
    }
    described = {"$ref": reference, "description": "d"}
    if reference == "#/$defs/odd":
        described["$ref"] = "#/$defs/odd/enum"
    assert projected_property(described, **{"$defs": definitions}) == {"description": "d"}


def test_a_reference_to_the_root_becomes_an_object() -> None:
    assert projected_property({"$ref": "#"}) == {"type": "object"}


def test_a_root_that_is_a_reference_gets_its_properties() -> None:
    schema = {"$ref": "#/$defs/A", "$defs": {"A": {"properties": {"a": TEXT}, "required": ["a"]}}}
    found = projected(schema)
    assert (found["properties"], found["required"]) == ({"a": TEXT}, ["a"])
    assert "$ref" not in found


# -- alternatives at the root -----------------------------------------------------------------------


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_alternatives_give_their_properties_and_what_all_of_them_require(keyword: str) -> None:
    schema = {
        "type": "object",
        "properties": {"kind": {"type": "string", "description": "which"}},
        keyword: [
            {"properties": {"kind": {"const": "a"}, "x": NUMBER}, "required": ["kind", "x"]},
            {"properties": {"kind": {"const": "b"}, "y": TEXT}, "required": ["kind"]},
            {"properties": {"kind": {"const": "a"}}, "required": ["y", "kind"]},
        ],
    }
    assert projected(schema) == {
        "type": "object",
        "properties": {
            "kind": {
                "type": "string",
                "description": "which",
                "anyOf": [{"const": "a"}, {"const": "b"}],
            },
            "x": NUMBER,
            "y": TEXT,
        },
        "required": ["kind"],
    }


def test_all_parts_give_their_properties_and_what_any_of_them_requires() -> None:
    schema = {
        "allOf": [
            {"properties": {"a": TEXT}, "required": ["a"]},
            {"$ref": "#/$defs/B"},
            {"allOf": [{"properties": {"c": NUMBER}}]},
        ],
        "$defs": {"B": {"properties": {"b": TEXT}, "required": ["b"]}},
    }
    found = projected(schema)
    assert found["properties"] == {"a": TEXT, "b": TEXT, "c": NUMBER}
    assert found["required"] == ["a", "b"]
    assert "allOf" not in found


def test_what_holds_only_sometimes_is_optional() -> None:
    schema = {
        "properties": {"a": TEXT},
        "if": {"properties": {"a": {"const": "x"}}},
        "then": {"properties": {"b": NUMBER}, "required": ["b"]},
        "else": {"properties": {"c": TEXT}},
        "dependentSchemas": {"a": {"properties": {"d": TEXT}}},
        "not": {"required": ["z"]},
        "enum": [{}],
    }
    assert projected(schema) == {
        "type": "object",
        "properties": {"a": TEXT, "b": NUMBER, "c": TEXT, "d": TEXT},
        "required": [],
    }


# -- limits -----------------------------------------------------------------------------------------


def test_descriptions_end_at_the_limit() -> None:
    long = "x" * (DESCRIPTION_LIMIT + 1)
    assert len(projected_property({"description": long})["description"]) == DESCRIPTION_LIMIT
    assert projected_property({"description": long[1:]})["description"] == long[1:]


def test_schemas_below_the_limit_are_anything() -> None:
    described: dict[str, Any] = TEXT
    for _ in range(3 * DEPTH_LIMIT):
        described = {"type": "object", "properties": {"q": described}}
    found = projected_property(described)
    depth = 0
    while found:
        found, depth = found["properties"]["q"], depth + 1
    assert depth == DEPTH_LIMIT


def test_a_schema_that_doubles_itself_ends() -> None:
    more = {f"{n}": {"allOf": [{"$ref": f"#/$defs/{n + 1}"}] * 50} for n in range(50)}
    assert (
        projected({"$ref": "#/$defs/0", "$defs": more, "allOf": [{"$ref": "#"}] * 50})["properties"]
        == {}
    )


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(["object", "array", "#", "#/$defs/a", "^a$"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYWORDS),
            inner,
        )
    ),
    max_leaves=20,
)


@given(
    st.dictionaries(
        st.sampled_from(["$defs", "$ref", "anyOf", "properties", "required", "allOf"]), json_values
    )
)
def test_whatever_a_server_sends_has_a_projection(schema: dict[str, Any]) -> None:
    msgspec.json.encode(projected(schema))


# -- in the array of tools --------------------------------------------------------------------------


def test_a_tool_with_a_servers_schema_is_sent_with_its_projection() -> None:
    schema = {"properties": {"p": {"type": "array"}}, "required": ["p"]}
    spec = ToolSpec("mcp_s_t", "x" * 2000, (ToolParameter("p", "array"),), schema=schema)
    (sent,) = tool_schemas([spec])
    assert sent["function"]["parameters"] == project_schema(schema)
    assert len(sent["function"]["description"]) == DESCRIPTION_LIMIT
