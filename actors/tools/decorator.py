"""`@tool`: a plain function with type hints and a docstring becomes a tool.

    @tool
    def convert(amount: float, unit: Literal["km", "miles"] = "km") -> float:
        '''Convert a distance to metres.

        Args:
            amount: how much of the unit
            unit: what the amount is given in
        '''

The first paragraph of the docstring is the description; parameters are described by its `Args:` section
(Google, NumPy or Sphinx style). Arguments are checked and converted by msgspec to the hinted types, so
enums, dates, dataclasses and structs work; what cannot be converted is an error result that names the
argument. Arguments the function does not have are dropped.
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from typing import Any, get_args, overload

import msgspec

from actors.errors import ToolSchemaError
from actors.model.toolspec import ParameterType, ToolParameter, ToolSpec
from actors.tools.docstring import parameter_texts, summary
from actors.tools.policy import ToolPolicy
from actors.tools.signature import function_name, named_parameters
from actors.tools.tool import Tool
from actors.tools.validation import json_kind

DEFAULT_TIMEOUT_S = 120.0
_DEFINITIONS = "#/$defs/"


class FunctionTool(Tool, frozen=True):
    """A tool made of a function; calling it calls the function."""

    function: Callable[..., Any] = print

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function as it was written."""
        return self.function(*args, **kwargs)


@overload
def tool(function: Callable[..., Any], /) -> FunctionTool: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    policy: ToolPolicy | None = None,
    timeout_s: float | None = DEFAULT_TIMEOUT_S,
    parallel_safe: bool = False,
    idempotent: bool = False,
) -> Callable[[Callable[..., Any]], FunctionTool]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    policy: ToolPolicy | None = None,
    timeout_s: float | None = DEFAULT_TIMEOUT_S,
    parallel_safe: bool = False,
    idempotent: bool = False,
) -> FunctionTool | Callable[[Callable[..., Any]], FunctionTool]:
    """Make a tool of a function; see the module, and `Tool` for what the settings mean.

    `name` and `description` default to the function's own.

    Raises:
        ToolSchemaError: a parameter has no type hint, or one that JSON cannot carry; names it. Or what
            is given is no function or method that returns.
    """

    def make(plain: Callable[..., Any]) -> FunctionTool:
        arguments = _Arguments(plain, function_name(plain, name))
        documented = inspect.getdoc(plain) or ""
        spec = ToolSpec(
            arguments.tool_name,
            summary(documented) if description is None else description,
            arguments.parameters(parameter_texts(documented)),
            arguments.definitions,
        )
        return FunctionTool(
            spec=spec,
            run=arguments.caller(),
            policy=policy,
            validator=arguments.checked,
            timeout_s=timeout_s,
            parallel_safe=parallel_safe,
            idempotent=idempotent,
            function=plain,
        )

    return make if function is None else make(function)


class _Arguments:
    """The parameters of a function as a msgspec type: schema, check and conversion come from it."""

    def __init__(self, function: Callable[..., Any], tool_name: str) -> None:
        self._function = function
        self.tool_name = tool_name
        self._parameters = named_parameters(function, tool_name)
        self._type = self._struct()
        self._schema, self.definitions = self._schemas()

    def _struct(self) -> type[msgspec.Struct]:
        try:
            hints = typing.get_type_hints(self._function, include_extras=True)
        except (NameError, TypeError) as error:
            raise ToolSchemaError(
                f"tool {self.tool_name!r}: its type hints cannot be read: {error}"
            ) from error
        fields: list[Any] = []
        for parameter in self._parameters:
            if parameter.name not in hints:
                raise ToolSchemaError(
                    f"tool {self.tool_name!r}: parameter {parameter.name!r} has no type hint; "
                    "the model must be told what to pass"
                )
            hint = hints[parameter.name]
            if parameter.default is inspect.Parameter.empty:
                fields.append((parameter.name, hint))
            else:
                fields.append((parameter.name, hint | msgspec.UnsetType, msgspec.UNSET))
        try:
            return msgspec.defstruct(f"{self.tool_name}_arguments", fields, kw_only=True)
        except (
            RuntimeError,
            TypeError,
            ValueError,
        ) as error:  # names that begin with two underscores
            raise ToolSchemaError(
                f"tool {self.tool_name!r}: its parameters cannot be named: {error}"
            ) from error

    def _schemas(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The schema of each parameter, and the definitions they refer to."""
        try:
            (reference,), components = msgspec.json.schema_components(
                [self._type], ref_template=f"{_DEFINITIONS}{{name}}"
            )
        except TypeError as error:
            raise ToolSchemaError(
                f"tool {self.tool_name!r}: the type hint of parameter {self._misfit()!r} has no JSON "
                f"form: {str(error).splitlines()[-1]}"
            ) from error
        own = components.pop(reference["$ref"].rpartition("/")[2])
        return own["properties"], components

    def _misfit(self) -> str:
        """The first parameter whose hint no schema can be made of."""
        for each in msgspec.structs.fields(self._type):
            try:
                msgspec.json.schema(each.type)
            except TypeError:
                return each.name
        raise AssertionError("every hint has a schema, and all together have none")

    def parameters(self, texts: dict[str, str]) -> tuple[ToolParameter, ...]:
        """The parameters as a model sees them."""
        return tuple(self._parameter(each, texts.get(each.name, "")) for each in self._parameters)

    def _parameter(self, parameter: inspect.Parameter, text: str) -> ToolParameter:
        schema = dict(self._schema[parameter.name])
        if text:
            schema["description"] = text
        text = text or schema.get("description", "")
        required = parameter.default is inspect.Parameter.empty
        if not required and _is_plain(parameter.default):
            schema["default"] = parameter.default
        return ToolParameter(
            parameter.name, _parameter_type(schema, self.definitions), required, text, schema
        )

    def checked(self, _: str, args: Any) -> dict[str, Any]:
        """The arguments the function has, checked; raises ValueError naming the one that cannot be."""
        if not isinstance(args, dict):
            raise ValueError(f"expected an object of arguments, got {json_kind(args)}")  # noqa: TRY004
        known = {each.name: args[each.name] for each in self._parameters if each.name in args}
        msgspec.convert(known, self._type)
        return known

    def caller(self) -> Callable[[Any], Any]:
        """A function of the arguments as one object; `async def` if the function is."""
        function, kind = self._function, self._type

        def converted(args: Any) -> dict[str, Any]:
            values = msgspec.structs.asdict(msgspec.convert(args, kind))
            return {name: value for name, value in values.items() if value is not msgspec.UNSET}

        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def call_async(args: Any) -> Any:
                return await function(**converted(args))

            return call_async

        @functools.wraps(function)
        def call(args: Any) -> Any:
            return function(**converted(args))

        return call


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str)


def _parameter_type(schema: dict[str, Any], definitions: dict[str, Any]) -> ParameterType:
    """The one type of a schema, beside null; `unknown` for a choice of several and for anything."""
    if "$ref" in schema:
        return _parameter_type(definitions[schema["$ref"].removeprefix(_DEFINITIONS)], definitions)
    kinds = {
        _parameter_type(each, definitions)
        for each in schema.get("anyOf", ())
        if each.get("type") != "null"
    }
    if len(kinds) == 1:
        return kinds.pop()
    kind = schema.get("type")
    if isinstance(kind, str) and kind in get_args(ParameterType):
        return typing.cast("ParameterType", kind)
    values = schema.get("enum")
    if values and all(isinstance(value, str) for value in values):
        return "string"
    return "unknown"
