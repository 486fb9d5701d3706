"""Which functions can be tools, and by which parameters."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from actors.errors import ToolSchemaError
from actors.tools.decorator import tool
from actors.tools.signature import function_name, named_parameters


class Shelf:
    def find(self, title: str, *, row: int = 0) -> str:
        return f"{title} in {row}"

    @staticmethod
    def rows(first: int) -> int:
        return first

    def __call__(self, title: str) -> str:
        return title


class Counted:
    """A decorator that is a class, as some libraries have them."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self._function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)


def add(a: int, b: int = 2) -> int:
    return a + b


async def later(a: int) -> int:
    return a


def count(to: int) -> Iterator[int]:
    yield from range(to)


async def count_later(to: int) -> AsyncIterator[int]:
    yield to


@pytest.mark.parametrize(
    ("function", "name", "parameters"),
    [
        (add, "add", ["a", "b"]),
        (later, "later", ["a"]),
        (Shelf().find, "find", ["title", "row"]),
        (Shelf.rows, "rows", ["first"]),
        (len, "len", None),
    ],
)
def test_functions_and_methods_keep_their_names_and_parameters(
    function: Callable[..., Any], name: str, parameters: list[str] | None
) -> None:
    assert function_name(function) == name
    if parameters is not None:
        assert [each.name for each in named_parameters(function, name)] == parameters


@pytest.mark.parametrize("wrap", [functools.cache, Counted])
def test_a_wrapped_function_is_a_function(wrap: Callable[[Any], Any]) -> None:
    made = tool(wrap(add))
    assert [each.type for each in made.spec.parameters] == ["integer", "integer"]
    assert made.run({"a": 1}) == 3


def test_a_given_name_counts_and_is_needed_for_a_lambda() -> None:
    assert function_name(lambda: 1, "one") == "one"
    with pytest.raises(ToolSchemaError, match="a lambda has no name; pass name="):
        function_name(lambda: 1)


@pytest.mark.parametrize(
    ("thing", "says"),
    [
        (Shelf, "tool 'Shelf': expected a function or a method, got a class"),
        (Shelf(), "got an object of 'Shelf'"),
        (functools.partial(add, 1), "got an object of 'partial'"),
        (3, "tool '3': expected a function or a method, got an object of 'int'"),
        (count, "tool 'count': expected a function that returns, got one that yields"),
        (count_later, "tool 'count_later': expected a function that returns"),
    ],
)
def test_what_cannot_be_called_for_one_value_is_refused_at_once(thing: Any, says: str) -> None:
    with pytest.raises(ToolSchemaError) as raised:
        tool(thing)
    assert says in str(raised.value)


@pytest.mark.parametrize("function", [len, print, dict.fromkeys])
def test_a_function_whose_parameters_have_no_names_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(ToolSchemaError, match=f"tool '{function.__name__}': "):
        named_parameters(function, function.__name__)


def test_a_function_that_tells_no_parameters_is_refused() -> None:
    with pytest.raises(ToolSchemaError, match="its parameters are not known"):
        named_parameters(max, "max")
