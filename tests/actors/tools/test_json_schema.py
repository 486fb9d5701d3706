"""Arguments against a server's JSON Schema."""

from __future__ import annotations

import socket
import subprocess
import sys
from typing import Any

import pytest

from actors.errors import ToolSchemaError
from actors.tools.json_schema import SIZE_LIMIT, UNUSUAL_SIZE_LIMIT, argument_validator

TEXT = {"type": "string"}
EDIT = {
    "type": "object",
    "properties": {
        "path": TEXT,
        "mode": {"enum": ["fast", "slow"]},
        "count": {"type": "integer", "minimum": 1},
        "code": {"type": "string", "pattern": "^[A-Z]{2}$"},
        "edits": {"type": "array", "items": {"$ref": "#/$defs/Edit"}},
        "either": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "form": {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        "fixed": {"const": 7},
        "never": False,
    },
    "required": ["path"],
    "additionalProperties": False,
    "$defs": {"Edit": {"type": "object", "properties": {"old": TEXT}, "required": ["old", "new"]}},
}


def problem(schema: Any, arguments: Any) -> str | None:
    """Why the arguments are refused, if they are."""
    check = argument_validator("tool 't' of server 's'", schema)
    try:
        assert check("mcp_s_t", arguments) is arguments
    except ValueError as error:
        return str(error)
    return None


def fault(schema: Any) -> str:
    """Why there is no tool."""
    with pytest.raises(ToolSchemaError) as caught:
        argument_validator("tool 't' of server 's'", schema)
    return str(caught.value).removeprefix("tool 't' of server 's': ")


@pytest.mark.parametrize(
    "arguments",
    [
        {"path": ""},
        {"path": "a", "mode": "slow", "count": 3, "code": "AB", "fixed": 7},
        {"path": "a", "count": 1.0},
        {"path": "a", "edits": [{"old": "x", "new": 1}], "either": None},
        {"path": "a", "form": {"a": 1}},
    ],
)
def test_arguments_that_fit_pass_unchanged(arguments: Any) -> None:
    assert problem(EDIT, arguments) is None


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, "expected 'path', which must be there"),
        ({"path": 3}, "expected string, got number, at 'path'"),
        (
            {"path": "a", "edits": [{"old": "x"}]},
            "expected 'new', which must be there, at 'edits[0]'",
        ),
        (
            {"path": "a", "edits": [{"old": "x", "new": 1}, {"old": None, "new": 1}]},
            "expected string, got null, at 'edits[1].old'",
        ),
        ({"path": "a", "mode": "odd"}, 'expected one of "fast", "slow", got "odd", at \'mode\''),
        ({"path": "a", "count": 0}, "expected minimum 1, got 0, at 'count'"),
        ({"path": "a", "count": True}, "expected integer, got boolean, at 'count'"),
        ({"path": "a", "code": "abc"}, 'expected pattern "^[A-Z]{2}$", got "abc", at \'code\''),
        ({"path": "a", "either": "x"}, "expected integer or null, got string, at 'either'"),
        ({"path": "a", "fixed": 8}, "expected 7, got 8, at 'fixed'"),
        ({"path": "a", "never": 1}, "expected no value where 1 is given"),
        ({"path": 3, "x": 1}, "expected no 'x'; known are 'path', 'mode'"),
        ([], "expected an object of arguments, got array"),
        ("a", "expected an object of arguments, got string"),
    ],
)
def test_a_refusal_says_what_was_expected_and_where(arguments: Any, text: str) -> None:
    assert (problem(EDIT, arguments) or "").startswith(text)


def test_a_refusal_stays_short_however_long_the_values_are() -> None:
    schema = {"properties": {"p": {"enum": ["x" * 5000] * 50}}}
    assert len(problem(schema, {"p": "y" * 100_000}) or "") < 500
    assert len(problem({"propertyNames": {"maxLength": 3}}, {"z" * 100_000: 1}) or "") < 500


def test_a_schema_that_asks_for_nothing_takes_any_object() -> None:
    assert problem({}, {"anything": [1, {"a": None}]}) is None
    assert problem({"properties": {"p": {}}}, {"p": 3}) is None


def test_the_drafts_differ() -> None:
    limit = {"minimum": 3, "exclusiveMinimum": True}
    draft_04 = {"$schema": "http://json-schema.org/draft-04/schema#", "properties": {"p": limit}}
    assert problem(draft_04, {"p": 3}) == "expected minimum 3, got 3, at 'p'"
    assert "not valid" in fault({"properties": {"p": limit}})


def test_a_dialect_nobody_knows_is_an_error() -> None:
    assert "its $schema is 'https://example.com/own'" in fault(
        {"$schema": "https://example.com/own"}
    )


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ([], "expected an object as its inputSchema, got array"),
        ({"type": "array"}, "its type is 'array'"),
        ({"properties": {"p": {"type": 3}}}, "got 3, at 'properties.p.type'"),
        ({"properties": {"p": {"minLength": "1"}}}, "at 'properties.p.minLength'"),
        (
            {"properties": {"p": {"$ref": "#/$defs/none"}}},
            "refers to '#/$defs/none', which it does not",
        ),
        ({"properties": {"p": {"$ref": "#none"}}}, "refers to '#none', which it does not have"),
        ({"title": "x" * SIZE_LIMIT}, f"at most {SIZE_LIMIT} are taken"),
        ({"$id": "x" * UNUSUAL_SIZE_LIMIT}, f"at most {UNUSUAL_SIZE_LIMIT} are taken where"),
    ],
)
def test_a_schema_that_cannot_be_used_is_an_error_that_says_why(schema: Any, text: str) -> None:
    assert text in fault(schema)


def test_references_by_anchor_and_by_place_are_followed() -> None:
    schema = {
        "$id": "https://example.com/s",
        "properties": {"a": {"$ref": "#text"}, "b": {"$ref": "#/properties/a"}},
        "$defs": {"t": {"$anchor": "text", "type": "string"}},
    }
    assert problem(schema, {"b": 3}) == "expected string, got number, at 'b'"


# -- hostile schemas --------------------------------------------------------------------------------


def test_a_reference_to_elsewhere_is_never_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        reference = f"http://127.0.0.1:{server.getsockname()[1]}/schema.json"
        schema = {"properties": {"p": {"$ref": reference}}}
        assert f"refers to {reference!r}, which is not fetched" in (problem(schema, {"p": 1}) or "")
        assert problem(schema, {}) is None
        with pytest.raises(BlockingIOError):
            server.accept()


def test_a_pattern_that_could_take_for_ever_is_left_to_the_server() -> None:
    schema = {
        "properties": {"p": {"pattern": "^(a+)+$"}},
        "patternProperties": {"^(b+)+$": {"type": "string"}},
        "propertyNames": {"pattern": "^(b+)+$|p"},
    }
    assert problem(schema, {"p": "a" * 60 + "!", "b" * 60 + "!": 1}) is None


def test_patterns_are_tried_until_that_has_taken_long() -> None:
    schema = {"properties": {"p": {"items": {"pattern": "^[a-z]*[0-9]*$"}}}}
    assert "at 'p[9]'" in (problem(schema, {"p": ["a" * 300] * 9 + ["?" * 300]}) or "")
    assert problem(schema, {"p": ["a" * 300] * 900 + ["?" * 300]}) is None


def test_names_are_checked_by_pattern_up_to_a_length() -> None:
    schema = {"patternProperties": {"^x-": TEXT}, "additionalProperties": False}
    assert problem(schema, {"x-a": "1"}) is None
    assert problem(schema, {"x-a": 1}) == "expected string, got number, at 'x-a'"
    assert problem(schema, {"y": 1}) == "expected no 'y'; known are none"
    assert problem(schema, {"x-" + "a" * 300: "1"}) == "expected names of at most 256 characters"
    assert "at most 256" in (problem(schema, {"x-a": [{"b" * 300: 1}]}) or "")


def test_a_schema_nested_without_end_is_an_error() -> None:
    schema: Any = {}
    for _ in range(10_000):
        schema = {"not": schema}
    assert "nested too deep" in fault(schema)
    del (
        schema
    )  # taken apart level by level below, as its depth would be too much for the interpreter


def test_a_schema_that_refers_to_itself_ends() -> None:
    assert "refers to itself too often" in (problem({"allOf": [{"$ref": "#"}]}, {}) or "")


def test_a_schema_that_doubles_at_each_step_ends() -> None:
    steps = {f"{n}": {"allOf": [{"$ref": f"#/$defs/{n + 1}"}] * 2} for n in range(40)}
    schema = {"$ref": "#/$defs/0", "$defs": {**steps, "40": {}}}
    assert "refers to itself too often" in (problem(schema, {}) or "")


def test_a_list_as_a_tree_of_references_is_checked_to_its_end() -> None:
    schema = {"properties": {"value": {"type": "integer"}, "next": {"$ref": "#"}}}
    arguments: dict[str, Any] = {"value": "x"}
    for _ in range(20):
        arguments = {"value": 1, "next": arguments}
    assert problem(schema, arguments) == f"expected integer, got string, at '{'next.' * 20}value'"


# -- cost -------------------------------------------------------------------------------------------

_IMPORTED = """
import sys
import actors
from actors.tools.mcp_spec import mcp_tool
schema = {"properties": {"p": {"$ref": "#/$defs/P"}}, "$defs": {"P": {"type": "string"}}}
tool = mcp_tool("s", {"name": "t", "inputSchema": schema}, print)
print("jsonschema" in sys.modules)
tool.validator(tool.name, {"p": "x"})
print("jsonschema" in sys.modules)
"""


def test_the_library_is_imported_with_the_first_call_and_not_before() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _IMPORTED], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == ["False", "True"]
