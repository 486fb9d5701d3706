"""Tools of MCP servers as tools of ours."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.errors import ToolSchemaError
from actors.model.toolspec import ToolParameter
from actors.tools.decision import Ready, Refused
from actors.tools.mcp_spec import mcp_tool
from actors.tools.policy import ToolPolicy
from actors.tools.registry import ToolRegistry
from actors.tools.tool import Tool, ToolOrigin

READ_ONLY = {"readOnlyHint": True}


def made(listed: Any) -> Tool:
    return mcp_tool("files", listed, lambda args: args)


def parameter(described: Any) -> ToolParameter:
    schema = {"properties": {"p": described}, "$defs": {"P": {}}}
    (only,) = made({"name": "x", "inputSchema": schema}).spec.parameters
    return only


def test_a_tool_is_named_after_its_server_and_remembers_its_own_name() -> None:
    tool = made({"name": "read_file", "description": "Read it", "annotations": READ_ONLY})
    assert (tool.name, tool.spec.description) == ("mcp_files_read_file", "[MCP:files] Read it")
    assert (tool.origin, tool.atomic) == (ToolOrigin("files", "read_file"), True)


@pytest.mark.parametrize(
    ("name", "annotations", "policy"),
    [
        ("read_file", READ_ONLY, ToolPolicy.ALLOW),
        ("read_file", {}, ToolPolicy.CONFIRM),
        ("delete_file", READ_ONLY, ToolPolicy.CONFIRM),
        ("read_file", "readOnly", ToolPolicy.CONFIRM),
    ],
)
def test_the_policy_is_the_gates_verdict_on_the_tools_own_name(
    name: str, annotations: Any, policy: ToolPolicy
) -> None:
    assert made({"name": name, "annotations": annotations}).policy is policy


def test_the_registry_makes_it_as_strict_as_its_default() -> None:
    registry = ToolRegistry(ToolPolicy.DENY)
    registry.register(made({"name": "read_file", "annotations": READ_ONLY}))
    assert registry.all()[0].policy is ToolPolicy.DENY


def test_parameters_keep_the_servers_order_and_know_which_are_required() -> None:
    schema = {"properties": {"z": {"type": "integer"}, "a": {"type": "array"}}, "required": ["a"]}
    tool = made({"name": "x", "inputSchema": schema})
    assert [(each.name, each.type, each.required) for each in tool.spec.parameters] == [
        ("z", "integer", False),
        ("a", "array", True),
    ]


@pytest.mark.parametrize(
    ("described", "kind"),
    [
        ({}, "string"),
        ({"description": "text"}, "string"),
        ({"type": "boolean"}, "boolean"),
        ({"type": "weird"}, "unknown"),
        ({"type": ["string", "null"]}, "unknown"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "unknown"),
        ({"enum": [1, 2]}, "unknown"),
        ({"$ref": "#/$defs/P"}, "unknown"),
        (True, "unknown"),
    ],
)
def test_a_missing_type_is_string_and_what_is_no_single_type_takes_anything(
    described: Any, kind: str
) -> None:
    assert parameter(described).type == kind


def test_the_whole_schema_of_a_parameter_is_kept_where_it_says_more() -> None:
    nested = {"type": "array", "items": {"$ref": "#/$defs/P"}, "description": "points"}
    kept = parameter(nested)
    assert (kept.schema, kept.description) == (nested, "points")
    assert parameter({"type": "weird"}).schema is None


def test_definitions_come_along() -> None:
    schema = {"properties": {"p": {"$ref": "#/$defs/P"}}, "$defs": {"P": {"type": "object"}}}
    assert made({"name": "x", "inputSchema": schema}).spec.definitions == {"P": {"type": "object"}}


def test_the_servers_schema_is_kept_as_it_is() -> None:
    schema = {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "x": [None]}
    assert made({"name": "x", "inputSchema": schema}).spec.schema == schema
    assert made({"name": "x"}).spec.schema == {}


def test_arguments_are_checked_against_the_whole_schema() -> None:
    registry = ToolRegistry()
    schema = {"properties": {"p": {"type": "array", "items": {"type": "integer"}}}}
    registry.register(made({"name": "get", "inputSchema": schema, "annotations": READ_ONLY}))
    assert registry.decide("mcp_files_get", {"p": [1, "2"]}) == Refused(
        "tool 'mcp_files_get': expected integer, got string, at 'p[1]'"
    )
    assert isinstance(registry.decide("mcp_files_get", {"p": [1, 2], "more": None}), Ready)


@pytest.mark.parametrize("args", [None, {}, {"anything": [1]}])
def test_a_tool_without_a_schema_takes_any_object(args: Any) -> None:
    registry = ToolRegistry()
    registry.register(made({"name": "get", "annotations": READ_ONLY}))
    decided = registry.decide("mcp_files_get", args)
    assert isinstance(decided, Ready)
    assert decided.args == (args or {})
    assert isinstance(registry.decide("mcp_files_get", [1]), Refused)


@pytest.mark.parametrize(
    ("hints", "parallel_safe", "idempotent"),
    [
        ({"readOnlyHint": True}, True, True),
        ({"idempotentHint": True}, False, True),
        ({"readOnlyHint": "yes", "idempotentHint": 1}, False, False),
        ({}, False, False),
        (None, False, False),
    ],
)
def test_hints_say_what_may_overlap_and_be_repeated(
    hints: Any, parallel_safe: bool, idempotent: bool
) -> None:
    tool = made({"name": "x", "annotations": hints})
    assert (tool.parallel_safe, tool.idempotent) == (parallel_safe, idempotent)


def test_the_time_of_a_call_can_be_said() -> None:
    assert mcp_tool("files", {"name": "x"}, print).timeout_s == 120.0
    assert mcp_tool("files", {"name": "x"}, print, timeout_s=None).timeout_s is None


def test_a_name_no_model_server_takes_is_changed_and_the_servers_own_kept() -> None:
    tool = made({"name": "read.file"})
    assert tool.name.startswith("mcp_files_read_file_")
    assert tool.origin == ToolOrigin("files", "read.file")


@pytest.mark.parametrize(
    "schema",
    [
        [],
        "object",
        {"type": "string"},
        {"properties": {"p": {"type": 3}}},
        {"properties": {"p": {"$ref": "#/$defs/none"}}},
    ],
)
def test_a_schema_that_is_none_is_an_error_that_names_server_and_tool(schema: Any) -> None:
    with pytest.raises(ToolSchemaError, match="tool 'x' of server 'files'"):
        made({"name": "x", "inputSchema": schema})


@pytest.mark.parametrize("listed", [None, [], "x", {}, {"name": ""}, {"name": 3}])
def test_a_tool_without_a_name_is_an_error_that_names_the_server(listed: Any) -> None:
    with pytest.raises(ToolSchemaError, match="server 'files' lists a tool without a name"):
        made(listed)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.sampled_from(
                ["properties", "required", "type", "description", "$defs", "anyOf", "p"]
            ),
            inner,
        )
    ),
    max_leaves=8,
)


@given(json_values, json_values, json_values)
def test_something_odd_in_a_listing_is_taken_or_is_a_schema_error(
    schema: Any, description: Any, annotations: Any
) -> None:
    listed = {
        "name": "x",
        "inputSchema": schema,
        "description": description,
        "annotations": annotations,
    }
    try:
        tool = made(listed)
    except ToolSchemaError:
        return
    assert tool.spec.name == "mcp_files_x"
    assert tool.validator is not None
