"""The headers of modern HTTP requests: how values are written, and which annotations cannot be followed."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.errors import InvalidArgument
from actors.mcp.headers import argument_headers, encoded, parameter_headers, standard_headers


def tool(**properties: Any) -> dict[str, Any]:
    """A schema with these properties."""
    return {"type": "object", "properties": properties}


def region(name: Any = "Region", kind: Any = "string") -> dict[str, Any]:
    """A property that asks for a header."""
    return {"type": kind, "x-mcp-header": name}


@pytest.mark.parametrize(
    ("value", "header"),
    [
        ("us-west1", "us-west1"),
        ("", ""),
        ("two words", "two words"),
        ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
        (" padded ", "=?base64?IHBhZGRlZCA=?="),
        ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
        ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ("\tx", "=?base64?CXg=?="),
        ("=?base64?no end", "=?base64?no end"),
        ("\x7f", "=?base64?fw==?="),
    ],
)
def test_values_are_plain_or_base64(value: str, header: str) -> None:
    assert encoded(value) == header


@given(st.text())
def test_every_text_comes_through_as_a_header_and_comes_back(value: str) -> None:
    header = encoded(value)
    assert header.isascii()
    assert header.isprintable()
    assert header == header.strip()
    if header.startswith("=?base64?") and header.endswith("?="):
        assert base64.b64decode(header[9:-2], validate=True).decode() == value
    else:
        assert header == value


@pytest.mark.parametrize(
    ("method", "params", "name"),
    [
        ("tools/call", {"name": "add"}, "add"),
        ("prompts/get", {"name": "hellö"}, "=?base64?aGVsbMO2?="),
        ("resources/read", {"uri": "file:///a", "name": "no"}, "file:///a"),
        ("tools/list", {"name": "no"}, None),
        ("tools/call", {}, None),
        ("tools/call", {"name": 3}, None),
    ],
)
def test_method_and_name(method: str, params: dict[str, Any], name: str | None) -> None:
    expected = {"Mcp-Method": method} | ({} if name is None else {"Mcp-Name": name})
    assert standard_headers(method, params) == expected


def test_annotated_properties_are_found_at_any_depth_of_properties() -> None:
    where = {"type": "object", "properties": {"zone": region("Zone", "integer")}}
    schema = tool(region=region(), where=where, sure=region("Sure", "boolean"), other={})
    assert parameter_headers(schema) == {
        ("region",): "Mcp-Param-Region",
        ("where", "zone"): "Mcp-Param-Zone",
        ("sure",): "Mcp-Param-Sure",
    }


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        tool(a={"default": {"x-mcp-header": ""}, "enum": [{"x-mcp-header": 1}]}),
        tool(a={"examples": [region("")]}, b=True, c=None, d=["odd"]),
        {"properties": ["odd"], "allOf": "odd", "$defs": 3},
        tool(**{"x-mcp-header": {"type": "string"}, "default": {"type": "string"}}),
    ],
)
def test_what_is_no_annotation_is_none(schema: dict[str, Any]) -> None:
    assert parameter_headers(schema) == {}


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        (tool(a=region("")), "x-mcp-header at 'a' is '', expected the end of a header's name"),
        (tool(a=region(3)), "at 'a' is 'int', expected"),
        (tool(a=region(None)), "at 'a' is 'NoneType'"),
        (tool(a=region("My Region")), "'My Region', expected"),
        (tool(a=region("Region:Primary")), "'Region:Primary'"),
        (tool(a=region("Région")), "expected the end of"),
        (tool(a=region("Region\t1")), "expected the end of"),
        (tool(a=region("Region\n")), "expected the end of"),
        (tool(a=region(), b=region("rEGION")), r"is at '[ab]' and at '[ab]'"),
        (tool(a=region(), b=region()), r"'Region' is at '[ab]' and at '[ab]'"),
        (tool(a=region(kind="number")), "is on type 'number', expected one of string, integer"),
        (tool(a=region(kind="array")), "on type 'array'"),
        (tool(a=region(kind="object")), "on type 'object'"),
        (tool(a=region(kind="null")), "on type 'null'"),
        (tool(a=region(kind=["string", "null"])), "on type"),
        (tool(a={"x-mcp-header": "A"}), "on type None"),
        (tool() | {"x-mcp-header": "A"}, "no chain of properties"),
        (tool(a={"type": "array", "items": region()}), "no chain of properties"),
        (tool(a={"type": "array", "items": tool(b=region())}), "no chain of properties"),
        (tool(a={"items": [{}, region()]}), "no chain of properties"),
        ({"anyOf": [tool(a=region())]}, "no chain of properties"),
        ({"if": tool(a=region())}, "no chain of properties"),
        (tool(a={"$ref": "#/$defs/A"}) | {"$defs": {"A": region()}}, "no chain of properties"),
        (tool(a={"additionalProperties": region()}), "no chain of properties"),
        ({"patternProperties": {"^a": region()}}, "no chain of properties"),
    ],
)
def test_an_annotation_that_cannot_be_followed_is_told(schema: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parameter_headers(schema)


def test_a_schema_may_be_as_deep_as_it_likes() -> None:
    schema: dict[str, Any] = region()
    for _ in range(5000):
        schema = tool(a=schema)
    assert len(next(iter(parameter_headers(schema)))) == 5000


def test_arguments_are_repeated_and_absent_ones_left_out() -> None:
    mapping = {
        ("region",): "Mcp-Param-Region",
        ("count",): "Mcp-Param-Count",
        ("whole",): "Mcp-Param-Whole",
        ("sure",): "Mcp-Param-Sure",
        ("not",): "Mcp-Param-Not",
        ("null",): "Mcp-Param-Null",
        ("absent",): "Mcp-Param-Absent",
        ("list",): "Mcp-Param-List",
        ("half",): "Mcp-Param-Half",
        ("where", "zone"): "Mcp-Param-Zone",
        ("region", "zone"): "Mcp-Param-Nowhere",
    }
    arguments = {
        "region": "Zürich",
        "count": -7,
        "whole": 3.0,
        "sure": True,
        "not": False,
        "null": None,
        "list": [1],
        "half": 0.5,
        "where": {"zone": "b"},
    }
    assert argument_headers(mapping, arguments) == {
        "Mcp-Param-Region": "=?base64?WsO8cmljaA==?=",
        "Mcp-Param-Count": "-7",
        "Mcp-Param-Whole": "3",
        "Mcp-Param-Sure": "true",
        "Mcp-Param-Not": "false",
        "Mcp-Param-Zone": "b",
    }


@pytest.mark.parametrize(
    ("kind", "bad"),
    [("string", "a\ud800"), ("integer", 1 << 20_000)],
    ids=["surrogate", "long"],
)
def test_an_argument_that_no_header_can_hold_is_named(kind: str, bad: Any) -> None:
    mapping = parameter_headers(tool(where=tool(at=region(kind=kind))))
    with pytest.raises(InvalidArgument, match=r"the argument 'where\.at' cannot be sent"):
        argument_headers(mapping, {"where": {"at": bad}})
