"""JSON Schemas made into checks by the `jsonschema` library. Only `json_schema` imports this module.

It is a module of its own because the library takes tens of milliseconds to import, and a process without MCP
tools never needs it. Nothing is ever fetched: references to other documents fail when they are followed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from itertools import islice
from typing import Any, Final

from jsonschema import (
    Draft3Validator,
    Draft4Validator,
    Draft6Validator,
    Draft7Validator,
    Draft201909Validator,
    Draft202012Validator,
    FormatChecker,
)
from jsonschema.exceptions import SchemaError, ValidationError, best_match
from jsonschema.validators import extend
from referencing.exceptions import NoSuchAnchor, PointerToNowhere, Unresolvable
from referencing.jsonschema import EMPTY_REGISTRY, SchemaResource, specification_with

from actors.tools.schema_pattern import judged
from actors.tools.schema_problem import problem_text
from actors.tools.schema_shape import dialect_of

Check = Callable[[dict[str, Any]], str | None]
"""Says what is wrong with arguments, in half a sentence, or None."""

STEPS_LIMIT: Final = 20_000
"""Most references that one check follows: some tenths of a second. References can double at each step."""

WAYS_LIMIT: Final = 1_000_000
"""Most ways to try patterns in one check; patterns beyond that are left to the server."""

_ERRORS_COMPARED = 20
_NO_FORMATS = FormatChecker(formats=())

_ValidatorClass = type[Any]  # the library's types know the classes less well than its documentation
_Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]


class _TooManySteps(Exception):
    """A check follows more references than `STEPS_LIMIT`."""


class _Budget:
    """What is left for one check."""

    def __init__(self) -> None:
        self.steps = STEPS_LIMIT
        self.ways = WAYS_LIMIT


_budget: ContextVar[_Budget] = ContextVar("schema_budget")


def compiled(schema: dict[str, Any], *, sound: bool) -> Check:
    """The check for a schema; one that is not known to be sound is looked through first.

    Raises:
        ValueError: it is not a JSON Schema, has a reference to nothing, or a dialect nobody knows here.
        RecursionError: it is nested too deep.
    """
    dialect = dialect_of(schema)
    kind = _DIALECTS.get(dialect)
    if kind is None:
        raise ValueError(
            f"its $schema is {schema.get('$schema')!r}; known are the drafts 03 to 07, 2019-09 and 2020-12"
        )
    if not sound:
        _require_sound(kind, schema)
    validator = kind(schema, registry=EMPTY_REGISTRY)

    def check(arguments: dict[str, Any]) -> str | None:
        return _problem(validator, arguments)

    return check


def _problem(validator: Any, arguments: dict[str, Any]) -> str | None:
    token = _budget.set(_Budget())
    try:
        errors = validator.iter_errors(arguments)
        error = best_match(islice(errors, _ERRORS_COMPARED))
    except Unresolvable as unresolved:
        return (
            f"its schema refers to {unresolved.ref!r}, which is not fetched; it cannot be checked"
        )
    except (_TooManySteps, RecursionError):
        return "they cannot be checked: the schema refers to itself too often, or they are nested too deep"
    finally:
        _budget.reset(token)
    return None if error is None else problem_text(error)


# -- schemas ----------------------------------------------------------------------------------------


def _require_sound(kind: _ValidatorClass, schema: dict[str, Any]) -> None:
    try:
        kind.check_schema(schema, format_checker=_NO_FORMATS)
    except SchemaError as error:
        raise ValueError(f"it is not valid: {problem_text(error)}") from error
    specification = specification_with(str(kind.META_SCHEMA["$schema"]))
    resource = specification.create_resource(schema)
    _require_references(resource, EMPTY_REGISTRY.resolver_with_root(resource))


def _require_references(resource: SchemaResource, resolver: Any) -> None:
    """Raise for a reference within the schema to nothing. Those to elsewhere fail when they are followed."""
    contents = resource.contents
    reference = contents.get("$ref") if isinstance(contents, dict) else None
    if isinstance(reference, str):
        try:
            resolver.lookup(reference)
        except (PointerToNowhere, NoSuchAnchor) as error:
            raise ValueError(f"it refers to {reference!r}, which it does not have") from error
        except Unresolvable as error:
            if reference.startswith("#"):
                raise ValueError(f"it refers to {reference!r}, which it does not have") from error
    for inner in resource.subresources():
        _require_references(inner, resolver.in_subresource(inner))


# -- keywords ---------------------------------------------------------------------------------------


def _pattern(_: Any, pattern: str, instance: Any, __: Any) -> Iterator[ValidationError]:
    known = judged(pattern) if isinstance(instance, str) else None
    if known is None or not known.effort.within_limit(len(instance)):
        return
    budget = _budget.get()
    budget.ways -= known.effort.ways(len(instance))
    if budget.ways >= 0 and known.refuses(instance):
        yield ValidationError("it does not match")


def _counted(keyword: _Keyword) -> _Keyword:
    def follow(*args: Any) -> Iterator[ValidationError]:
        budget = _budget.get()
        budget.steps -= 1
        if budget.steps < 0:
            raise _TooManySteps
        yield from keyword(*args) or ()

    return follow


def _guarded(kind: _ValidatorClass) -> _ValidatorClass:
    """The library's class with our patterns, and with references that are counted."""
    known = kind.VALIDATORS
    followed = [each for each in ("$ref", "$dynamicRef", "$recursiveRef") if each in known]
    keywords = {each: _counted(known[each]) for each in followed}
    guarded: _ValidatorClass = extend(kind, {**keywords, "pattern": _pattern})  # type: ignore[no-untyped-call]  # in its stubs
    return guarded


_DIALECTS: dict[str, _ValidatorClass] = {
    "json-schema.org/draft/2020-12/schema": _guarded(Draft202012Validator),
    "json-schema.org/schema": _guarded(Draft202012Validator),
    "json-schema.org/draft/2019-09/schema": _guarded(Draft201909Validator),
    "json-schema.org/draft-07/schema": _guarded(Draft7Validator),
    "json-schema.org/draft-06/schema": _guarded(Draft6Validator),
    "json-schema.org/draft-04/schema": _guarded(Draft4Validator),
    "json-schema.org/draft-03/schema": _guarded(Draft3Validator),
}
