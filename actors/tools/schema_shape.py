"""A first look at a server's JSON Schema: made fit for use, and, for the usual ones, known to be sound.

Checking a schema against the schema of schemas takes the library milliseconds, too long for thousands of
tools on the event loop. Nearly all schemas use a few keywords plainly: for those this look is enough, and it
takes some microseconds. Only for the others `certain` is false, and the library has to check them.

What real servers get wrong without meaning anything by it is taken away rather than refused:

* keywords that are null (Go's nil slices and maps), and `required: true` inside a property (draft 03);
* a `type` that is none, inside the root: the seed reads it as "unknown" (gaia 7).

Two things are not checked here because checking can take for ever, so that the server alone checks them:
`patternProperties` with a pattern that is not tried (and what is said beside it of additional properties),
and `unevaluatedProperties` and `unevaluatedItems`.
"""

from __future__ import annotations

import re
from typing import Any, Final

from msgspec import Struct

from actors.model.json_pointer import target_of
from actors.model.schema_keywords import FITS, NAMED, ONE, OTHERS, SEVERAL, is_type
from actors.tools.schema_pattern import judged

DEPTH_LIMIT: Final = 64
"""The deepest nesting of schemas that is taken."""

NAME_LIMIT: Final = 256
"""Characters of the longest name of an argument, where a schema has patterns for names."""

NAME_WAYS_LIMIT: Final = 5_000
"""Most ways to try all patterns for names on one name."""

_GONE: Final = object()
_NEVER = frozenset(("unevaluatedItems", "unevaluatedProperties"))
_BESIDE_PATTERNS = frozenset(("additionalProperties", "patternProperties"))
_DRAFT_03 = "json-schema.org/draft-03/schema"
_PLAIN_DIALECTS = frozenset(
    (
        "json-schema.org/draft/2020-12/schema",
        "json-schema.org/draft/2019-09/schema",
        "json-schema.org/draft-07/schema",
        "json-schema.org/draft-06/schema",
    )
)
_PLAIN_REFERENCE = re.compile(r"#|#/(?:\$defs|definitions)/[^/~%]+")


class Shape(Struct, frozen=True):
    """What the look found.

    * `schema`: what arguments are checked against.
    * `certain`: it is a sound schema, and all its references lead to schemas in it.
    * `names_limited`: it has patterns for names, so that names must not be longer than `NAME_LIMIT`.
    """

    schema: dict[str, Any]
    certain: bool
    names_limited: bool


def dialect_of(schema: dict[str, Any]) -> str:
    """Its `$schema` without scheme and fragment; that of 2020-12 where it says none (MCP 2025-11-25)."""
    named = schema.get("$schema")
    if not isinstance(named, str):
        return "json-schema.org/draft/2020-12/schema"
    return named.removesuffix("#").removeprefix("https://").removeprefix("http://")


def shape_of(schema: dict[str, Any]) -> Shape:
    """Look at a whole schema; it is not changed.

    Raises:
        ValueError: it is nested too deep, or is not a schema of an object; says so in half a sentence.
    """
    kind = schema.get("type")
    if kind is not None and kind != "object" and not (isinstance(kind, list) and "object" in kind):
        raise ValueError(f"arguments are an object, but its type is {kind!r}")
    return _Look(schema).shape()


class _Look:
    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        dialect = dialect_of(root)
        self._mends = dialect != _DRAFT_03  # which has `required: true` and `type: any`
        self._certain = dialect in _PLAIN_DIALECTS
        self._names_limited = False

    def shape(self) -> Shape:
        schema = self._schema(self._root, 0)
        return Shape(schema, self._certain, self._names_limited)

    def _schema(self, node: Any, depth: int) -> Any:
        """The schema fit for use."""
        if not isinstance(node, dict):
            self._certain &= isinstance(node, bool)
            return node
        if depth > DEPTH_LIMIT:
            raise ValueError(f"its schemas are nested deeper than {DEPTH_LIMIT} levels")
        made = {}
        for keyword, value in node.items():
            fit = self._value(keyword, value, depth)
            if fit is not _GONE:
                made[keyword] = fit
        if "patternProperties" in made:
            self._look_at_patterns(made)
        if depth and "$schema" in made:
            self._certain = False
        return made

    def _value(self, keyword: str, value: Any, depth: int) -> Any:
        known = keyword in FITS or keyword in NAMED or keyword in ONE or keyword in SEVERAL
        if keyword in _NEVER or (known and value is None):
            return _GONE
        if keyword in NAMED and isinstance(value, dict):
            return {name: self._schema(each, depth + 1) for name, each in value.items()}
        if keyword in SEVERAL and isinstance(value, list):
            self._certain &= bool(value)
            return [self._schema(each, depth + 1) for each in value]
        if keyword in ONE:
            return self._one(value, depth)
        if self._mends and _means_nothing(keyword, value):
            return _GONE
        self._certain &= self._is_plain(keyword, value)
        return value

    def _one(self, value: Any, depth: int) -> Any:
        if isinstance(value, list):  # the old form of tuples
            self._certain = False
            return [self._schema(each, depth + 1) for each in value]
        return self._schema(value, depth + 1)

    def _is_plain(self, keyword: str, value: Any) -> bool:
        if keyword == "$ref":
            return (
                isinstance(value, str)
                and _PLAIN_REFERENCE.fullmatch(value) is not None
                and isinstance(target_of(value, self._root), dict)
            )
        fits = FITS.get(keyword)
        if fits is not None:
            return fits(value)
        return keyword not in OTHERS and keyword not in NAMED and keyword not in SEVERAL

    def _look_at_patterns(self, made: dict[str, Any]) -> None:
        """Keep patterns for names only if all of them may be tried: the library tries them unasked."""
        patterns = made["patternProperties"]
        if not isinstance(patterns, dict):
            return
        known = [judged(each) for each in patterns]
        ways = [each.effort.ways(NAME_LIMIT) for each in known if each is not None]
        if len(ways) == len(known) and sum(ways) <= NAME_WAYS_LIMIT:
            self._names_limited = True
            return
        for keyword in _BESIDE_PATTERNS:
            made.pop(keyword, None)


def _means_nothing(keyword: str, value: Any) -> bool:
    if keyword == "required":
        return isinstance(value, bool)
    if keyword != "type":
        return False
    texts = value if isinstance(value, list) else [value]
    return not is_type(value) and all(isinstance(each, str) for each in texts)
