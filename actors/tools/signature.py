"""Which functions can be tools, and by which parameters a model calls them. Pure; refuses by ToolSchemaError.

A model passes arguments by name and gets one value back, so every parameter must have a name of its own,
and what is called must be a function or a method that returns.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from actors.errors import ToolSchemaError


def function_name(function: Callable[..., Any], name: str | None = None) -> str:
    """The name of the tool made of a function: `name` if one is given, else the function's own.

    Raises:
        ToolSchemaError: it is no function or method nor wraps one, yields instead of returning, or has
            no name.
    """
    called = name or getattr(function, "__name__", None) or repr(function)
    if not inspect.isroutine(inspect.unwrap(function)):
        raise ToolSchemaError(
            f"tool {called!r}: expected a function or a method, got {_kind(function)}; "
            "write a function that calls it"
        )
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise ToolSchemaError(
            f"tool {called!r}: expected a function that returns, got one that yields; return a list"
        )
    if called == "<lambda>":
        raise ToolSchemaError("tool '<lambda>': a lambda has no name; pass name=...")
    return called


def named_parameters(function: Callable[..., Any], tool_name: str) -> list[inspect.Parameter]:
    """The parameters in the order of the function, without a bound `self`.

    Raises:
        ToolSchemaError: they are unknown, or one cannot be passed by name; names it.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except ValueError as error:  # some functions written in C
        raise ToolSchemaError(
            f"tool {tool_name!r}: its parameters are not known: {error}; write a function that calls it"
        ) from error
    for parameter in parameters:
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            plain = str(parameter.replace(annotation=parameter.empty))
            raise ToolSchemaError(
                f"tool {tool_name!r}: parameter {plain!r} cannot be passed by name; "
                "a model passes arguments by name"
            )
    return parameters


def _kind(value: Any) -> str:
    return "a class" if inspect.isclass(value) else f"an object of {type(value).__name__!r}"
