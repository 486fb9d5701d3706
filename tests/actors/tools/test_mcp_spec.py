"""Tools of MCP servers as tools of ours."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.errors import ToolSchemaError
from actors.model.toolspec import ToolParameter
from actors.tools.mcp_spec import mcp_tool
from actors.tools.policy import ToolPolicy
from actors.tools.registry import ToolRegistry
from actors.tools.tool import Tool, ToolOrigin

READ_ONLY = {"readOnlyHint": True}


def made(listed: Any) -> Tool:
    return mcp_tool("files", listed, lambda args: args)


def parameter(described: Any) -> ToolParameter:
    (only,) = made({"name": "x", "inputSchema": {"properties": {"p": described}}}).spec.parameters
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
        ("nonsense", "unknown"),
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
def test_nothing_odd_in_a_listing_makes_it_raise(
    schema: Any, description: Any, annotations: Any
) -> None:
    listed = {
        "name": "x",
        "inputSchema": schema,
        "description": description,
        "annotations": annotations,
    }
    assert made(listed).spec.name == "mcp_files_x"
