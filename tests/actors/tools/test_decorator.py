"""`@tool`: functions as tools, by their hints and docstrings."""

from __future__ import annotations

import asyncio
import datetime
import enum
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
import pytest

from actors.errors import ToolSchemaError
from actors.protocol.native import tool_schemas
from actors.protocol.prompt import tool_line
from actors.tools.decision import Ready, Refused
from actors.tools.decorator import tool
from actors.tools.policy import ToolPolicy
from actors.tools.registry import ToolRegistry
from actors.tools.tool import Tool


class Colour(enum.Enum):
    RED = "red"
    GREEN = "green"


class Point(msgspec.Struct):
    x: int
    y: int = 0


@dataclass
class Line:
    start: Point
    colour: Colour = Colour.RED


def called(of: Tool, args: Any) -> Any:
    """What the tool gives for a model's arguments, or the refusal's text."""
    registry = ToolRegistry()
    registry.register(of)
    decision = registry.decide(of.name, args)
    if isinstance(decision, Refused):
        return decision.error
    assert isinstance(decision, Ready)
    result = of.run(decision.args)
    return asyncio.run(_awaited(result)) if inspect.isawaitable(result) else result


async def _awaited(result: Any) -> Any:
    return await result


# -- what the model is told -------------------------------------------------------------------------


@tool
def convert(amount: float, unit: Literal["km", "miles"] = "km", exact: bool = False) -> float:
    """Convert a distance
    to metres.

    More that the model is not told.

    Args:
        amount: how much of the unit
        unit (str): what the amount
            is given in
    """
    return amount * {"km": 1000, "miles": 1609.344}[unit] + (0 if exact else 0.0)


def test_name_description_and_parameters_come_from_the_function() -> None:
    (described,) = tool_schemas([convert.spec])
    assert described["function"] == {
        "name": "convert",
        "description": "Convert a distance to metres.",
        "parameters": {
            "type": "object",
            "properties": {
                "amount": {"type": "number", "description": "how much of the unit"},
                "unit": {
                    "enum": ["km", "miles"],
                    "description": "what the amount is given in",
                    "default": "km",
                },
                "exact": {"type": "boolean", "default": False},
            },
            "required": ["amount"],
        },
    }


def test_a_line_of_the_prompt_says_the_types() -> None:
    line = (
        "- convert(amount: number, unit?: string, exact?: boolean): Convert a distance to metres."
    )
    assert tool_line(convert.spec) == line


@pytest.mark.parametrize(
    ("hint", "kind"),
    [
        (str, "string"),
        (int, "integer"),
        (float, "number"),
        (bool, "boolean"),
        (list[int], "array"),
        (tuple[int, str], "array"),
        (set[str], "array"),
        (dict[str, int], "object"),
        (Point, "object"),
        (Line, "object"),
        (Colour, "string"),
        (datetime.date, "string"),
        (int | None, "integer"),
        (list[Point] | None, "array"),
        (Colour | None, "string"),
        (Literal["a", "b"], "string"),
        (Literal[1, 2], "unknown"),
        (int | str, "unknown"),
        (Any, "unknown"),
    ],
)
def test_a_hint_is_told_as_one_type_where_it_is_one(hint: Any, kind: str) -> None:
    def function(value: Any) -> None: ...

    function.__annotations__["value"] = hint
    (parameter,) = tool(function).spec.parameters
    assert (parameter.type, parameter.required) == (kind, True)


def test_structs_and_enums_are_defined_beside_the_parameters() -> None:
    @tool
    def draw(line: Line, more: list[Point]) -> None: ...

    assert set(draw.spec.definitions) == {"Line", "Point", "Colour"}
    (described,) = tool_schemas([draw.spec])
    parameters = described["function"]["parameters"]
    assert parameters["properties"]["more"]["items"] == {"$ref": "#/$defs/Point"}
    assert parameters["$defs"]["Point"]["properties"]["x"] == {"type": "integer"}


def test_an_annotation_describes_and_bounds_a_parameter() -> None:
    @tool
    def wait(seconds: Annotated[int, msgspec.Meta(ge=1, description="how long")]) -> None: ...

    (parameter,) = wait.spec.parameters
    assert (parameter.description, parameter.schema) == (
        "how long",
        {"type": "integer", "minimum": 1, "description": "how long"},
    )
    assert "$.seconds" in called(wait, {"seconds": 0})


def test_settings_stand_where_they_are_given() -> None:
    @tool(
        name="clean-up",
        description="Tidy.",
        policy=ToolPolicy.CONFIRM,
        timeout_s=None,
        parallel_safe=True,
        idempotent=True,
    )
    def function() -> None:
        """Not this."""

    assert (function.name, function.spec.description) == ("clean-up", "Tidy.")
    assert (function.policy, function.timeout_s) == (ToolPolicy.CONFIRM, None)
    assert function.parallel_safe
    assert function.idempotent


def test_without_settings_the_registry_decides_and_nothing_is_promised() -> None:
    assert (convert.policy, convert.timeout_s) == (None, 120.0)
    assert not convert.parallel_safe
    assert not convert.idempotent


# -- calls ------------------------------------------------------------------------------------------


def test_the_function_can_be_called_as_before() -> None:
    assert convert(2) == 2000
    assert convert(1, unit="miles") == pytest.approx(1609.344)


def test_arguments_reach_the_function_as_the_hinted_types() -> None:
    seen: list[Any] = []

    @tool
    def draw(
        line: Line,
        when: datetime.date,
        points: list[Point],
        weights: dict[str, float],
        note: str | None = None,
    ) -> None:
        seen.append((line, when, points, weights, note))

    args = {
        "line": {"start": {"x": 1}, "colour": "green"},
        "when": "2024-02-29",
        "points": [{"x": 1, "y": 2}],
        "weights": {"a": 1},
    }
    assert called(draw, args) is None
    line = Line(Point(1), Colour.GREEN)
    assert seen == [(line, datetime.date(2024, 2, 29), [Point(1, 2)], {"a": 1.0}, None)]


def test_defaults_of_the_function_hold_and_are_not_copied_through_json() -> None:
    marker = object()

    @tool
    def defaulted(a: int = 3, *, b: list[int] = marker) -> bool:  # type: ignore[assignment]  # a sentinel
        return a == 3 and b is marker

    assert called(defaulted, {}) is True
    assert called(defaulted, None) is True


def test_an_async_function_stays_one() -> None:
    @tool
    async def later(n: int) -> int:
        await asyncio.sleep(0)
        return n + 1

    assert inspect.iscoroutinefunction(later.run)
    assert called(later, {"n": 1}) == 2
    assert asyncio.run(_awaited(later(1))) == 2


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({}, "missing required field `amount`"),
        ({"amount": "2"}, "Expected `float`, got `str` - at `$.amount`"),
        ({"amount": 2, "unit": "feet"}, "at `$.unit`"),
        ({"amount": 2, "exact": None}, "at `$.exact`"),
        ([2], "expected an object of arguments, got array"),
        (2, "expected an object of arguments, got number"),
    ],
)
def test_what_cannot_be_converted_is_refused_and_the_place_is_named(args: Any, says: str) -> None:
    text = called(convert, args)
    assert text.startswith("tool 'convert': ")
    assert says in text


def test_a_place_inside_a_structure_is_named() -> None:
    @tool
    def draw(lines: list[Line]) -> None: ...

    text = called(draw, {"lines": [{"start": {"x": 1}}, {"start": {"x": "left"}}]})
    assert "Expected `int`, got `str` - at `$.lines[1].start.x`" in text


def test_arguments_the_function_does_not_have_are_dropped() -> None:
    assert called(convert, {"amount": 1, "reason": "because"}) == 1000


# -- functions that cannot be tools -----------------------------------------------------------------


def _unhinted(a: int, b) -> None: ...  # type: ignore[no-untyped-def]  # what is tested


def _variable(*parts: str) -> None: ...


def _keywords(**parts: str) -> None: ...


def _positional(a: int, /) -> None: ...


def _object(a: int, b: object) -> None: ...


def _unknown(b: Nowhere) -> None: ...  # type: ignore[name-defined]  # noqa: F821


def _hidden(__b: int) -> None: ...


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (_unhinted, "parameter 'b' has no type hint"),
        (_variable, r"parameter '\*parts' cannot be passed by name"),
        (_keywords, r"parameter '\*\*parts' cannot be passed by name"),
        (_positional, "parameter 'a' cannot be passed by name"),
        (_object, "the type hint of parameter 'b' has no JSON form"),
        (_unknown, "'Nowhere' is not defined"),
        (_hidden, "its parameters cannot be named"),
    ],
)
def test_a_function_a_model_cannot_call_is_an_error_at_once(
    function: Callable[..., Any], says: str
) -> None:
    with pytest.raises(ToolSchemaError, match=says) as raised:
        tool(function)
    assert f"tool '{function.__name__}': " in str(raised.value)
