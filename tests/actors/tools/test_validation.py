"""Arguments against declared parameters."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.model.toolspec import ParameterType, ToolParameter, ToolSpec
from actors.tools.validation import argument_problem

JSON_VALUES: dict[str, Any] = {
    "null": None,
    "true": True,
    "1": 1,
    "1.0": 1.0,
    "text": "x",
    "array": [1],
    "object": {"a": 1},
}

ACCEPTED: dict[ParameterType, set[str]] = {
    "string": {"text"},
    "integer": {"1"},
    "number": {"1", "1.0"},
    "boolean": {"true"},
    "array": {"array"},
    "object": {"object"},
    "unknown": set(JSON_VALUES),
}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


def spec(*parameters: ToolParameter) -> ToolSpec:
    return ToolSpec("demo", "", parameters)


@pytest.mark.parametrize("value", JSON_VALUES)
@pytest.mark.parametrize("kind", ACCEPTED)
def test_a_type_takes_its_own_values_only(kind: ParameterType, value: str) -> None:
    problem = argument_problem(spec(ToolParameter("p", kind)), {"p": JSON_VALUES[value]})
    assert (problem is None) == (value in ACCEPTED[kind])


def test_a_problem_names_tool_argument_wanted_type_and_what_came() -> None:
    problem = argument_problem(spec(ToolParameter("count", "integer")), {"count": "3"})
    assert problem == "tool 'demo': argument 'count' must be of type integer, got string"


def test_what_is_required_must_be_there() -> None:
    one = spec(ToolParameter("q"))
    assert argument_problem(one, {}) == "tool 'demo': the required argument 'q' is missing"
    assert argument_problem(one, None) == "tool 'demo': the required argument 'q' is missing"


def test_what_is_not_required_may_be_missing_and_more_may_be_there() -> None:
    one = spec(ToolParameter("q", required=False))
    assert argument_problem(one, None) is None
    assert argument_problem(one, {"extra": 1}) is None


@pytest.mark.parametrize(
    ("args", "kind"), [([1], "array"), ("x", "string"), (3, "number"), (True, "boolean")]
)
def test_arguments_are_an_object(args: Any, kind: str) -> None:
    problem = argument_problem(spec(ToolParameter("q")), args)
    assert problem == f"tool 'demo': expected an object of arguments, got {kind}"


def test_a_tool_without_parameters_takes_anything() -> None:
    assert argument_problem(spec(), ["whatever"]) is None


@given(json_values)
def test_no_arguments_make_the_check_raise(args: Any) -> None:
    argument_problem(spec(ToolParameter("q", "integer"), ToolParameter("r", "array")), args)
