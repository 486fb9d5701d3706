"""A server's JSON Schema as the OpenAI-compatible family of model servers takes it for a tool's parameters.

One schema they dislike makes them refuse the whole request, and the schema is not ours to mend. So what is
sent is the nearest thing that is accepted; the original stays what arguments are checked against. Lost is
only what a model may be told less exactly, never a parameter:

* the root is an object with `properties` and `required`; alternatives at the root (`anyOf`, `oneOf`,
  `allOf`, `$ref`, `then`, `else`, `dependentSchemas`) give their properties to it, and a parameter is
  required if every alternative wants it. OpenAI refuses combinators at the root;
* keywords with values that do not fit (`"required": null`, `"type": "any"`) are left out;
* arrays have `items`, and tuples are written the way of 2020-12;
* a `pattern` that a llama.cpp server cannot turn into a grammar is left out;
* references that point nowhere in the schema, or only at each other, are left out: nothing is fetched;
* descriptions end after `DESCRIPTION_LIMIT` characters, schemas below `DEPTH_LIMIT` are "anything".

Projecting a projection changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from actors.model.json_pointer import target_of
from actors.model.schema_keywords import FITS, NAMED, ONE, SEVERAL

DESCRIPTION_LIMIT: Final = 1024
"""Most characters of a description, of the tool's and of each schema's; OpenAI refuses longer ones."""

DEPTH_LIMIT: Final = 32
"""Schemas nested deeper than this are sent as "anything"."""

_ALTERNATIVES_DEPTH = 6
_ALTERNATIVES_LIMIT = 2000
_REFERENCE_HOPS = 16
_AT_ROOT_NEVER = frozenset(
    (
        "$anchor",
        "$dynamicAnchor",
        "$id",
        "$ref",
        "$schema",
        "allOf",
        "anyOf",
        "const",
        "dependentSchemas",
        "else",
        "enum",
        "id",
        "if",
        "not",
        "oneOf",
        "then",
    )
)
_NEVER = frozenset(
    [
        "$anchor",
        "$dynamicAnchor",
        "$id",
        "$ref",
        "$schema",
        "allOf",
        "anyOf",
        "const",
        "dependentSchemas",
        "else",
        "enum",
        "id",
        "if",
        "not",
        "oneOf",
        "then",
    ]
)
_NEVER = frozenset(("additionalItems",))  # part of the old form of tuples
_MAY_BE_BOOLEAN = frozenset(("additionalProperties", "unevaluatedItems", "unevaluatedProperties"))
# llama.cpp issues 26930 and 27580: it refuses what is not anchored, and knows no \d, \w, \s, (?: or the like.
_TAKEN_PATTERN = re.compile(r"\^(?:[^\\]|\\[^0-9A-Za-z])*\$", re.DOTALL)

Properties = dict[str, Any]


def clipped(text: str) -> str:
    """A description within the limit."""
    if len(text) <= DESCRIPTION_LIMIT:
        return text
    return text[: DESCRIPTION_LIMIT - 3] + "..."


def project_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The projection of a tool's whole schema; see the module.

    The original is not changed. Values that are no schemas (`enum`, `default` ...) are shared with it.
    Raises nothing.
    """
    properties, required = _Parameters(schema).of(schema)
    rest = {key: value for key, value in schema.items() if key not in _AT_ROOT_NEVER}
    root = {**rest, "type": "object", "properties": properties, "required": required}
    references: list[dict[str, Any]] = []
    projected = _projected(root, 0, references)
    for holder in references:
        _mend_reference(holder, projected)
    return projected


# -- the root ---------------------------------------------------------------------------------------


class _Parameters:
    """Finds the properties a schema gives an object, its alternatives' among them, and the required ones.

    It looks at `_ALTERNATIVES_LIMIT` schemas at most: references may make many out of few.
    """

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._left = _ALTERNATIVES_LIMIT

    def of(self, node: Any, depth: int = 0) -> tuple[Properties, list[str]]:
        """The properties and required names of a schema."""
        self._left -= 1
        if not isinstance(node, Mapping) or depth > _ALTERNATIVES_DEPTH or self._left < 0:
            return {}, []
        properties = {**node["properties"]} if isinstance(node.get("properties"), dict) else {}
        names = [each for each in _list(node.get("required")) if isinstance(each, str)]
        found = [self.of(part, depth + 1) for part in self._parts(node)]
        found += [
            self._of_branches(branches, depth + 1)
            for branches in (_list(node.get("anyOf")), _list(node.get("oneOf")))
            if branches
        ]
        conditional, _ = self._of_branches(_conditional(node), depth + 1)
        for more, wanted in (*found, (conditional, [])):
            _merge(properties, more, _both)
            names += wanted
        return properties, list(dict.fromkeys(names))

    def _parts(self, node: Mapping[str, Any]) -> list[Any]:
        """The schemas that hold in any case besides the node itself."""
        parts = [*_list(node.get("allOf"))]
        reference = node.get("$ref")
        if isinstance(reference, str):
            parts.append(target_of(reference, self._root))
        return parts

    def _of_branches(self, branches: Iterable[Any], depth: int) -> tuple[Properties, list[str]]:
        """The properties of all branches, and what every branch requires."""
        properties: Properties = {}
        required: list[dict[str, None]] = []
        for branch in branches:
            more, names = self.of(branch, depth)
            _merge(properties, more, _either)
            required.append(dict.fromkeys(names))
        first, *others = required
        return properties, [name for name in first if all(name in names for names in others)]


def _conditional(node: Mapping[str, Any]) -> list[Any]:
    dependent = node.get("dependentSchemas")
    named = [*dependent.values()] if isinstance(dependent, dict) else []
    return [node.get("then"), node.get("else"), *named]


def _merge(into: Properties, more: Properties, together: Callable[[Any, Any], Any]) -> None:
    for name, described in more.items():
        into[name] = together(into[name], described) if name in into else described


def _both(first: Any, second: Any) -> Any:
    """A schema for what both describe; where they contradict each other, the first."""
    if isinstance(first, dict) and isinstance(second, dict):
        return {**second, **first}
    return first if isinstance(first, dict) else second


def _either(first: Any, second: Any) -> Any:
    """A schema for what one of them describes."""
    if first == second:
        return first
    known = first["anyOf"] if isinstance(first, dict) and first.keys() == {"anyOf"} else [first]
    return {"anyOf": known if second in known else [*known, second]}


# -- every schema -----------------------------------------------------------------------------------


def _projected(node: Any, depth: int, references: list[dict[str, Any]]) -> dict[str, Any]:
    """One schema and those within; the ones with a reference are added to `references`."""
    if not isinstance(node, dict) or depth > DEPTH_LIMIT:
        return {}

    def inner(value: Any) -> dict[str, Any]:
        return _projected(value, depth + 1, references)

    made: dict[str, Any] = {}
    for keyword, value in _modern(node).items():
        if keyword in NAMED:
            if isinstance(value, dict):
                made[keyword] = {k: inner(v) for k, v in value.items() if v is not False}
        elif keyword in SEVERAL:
            if branches := _list(value):
                made[keyword] = [inner(each) for each in branches]
        elif keyword in ONE:
            if isinstance(value, bool) and keyword in _MAY_BE_BOOLEAN:
                made[keyword] = value
            elif isinstance(value, dict | bool):
                made[keyword] = inner(value)
        elif keyword not in _NEVER and _is_kept(keyword, value):
            made[keyword] = clipped(value) if keyword == "description" else value
    if "items" not in made and _is_array(made.get("type")):
        made["items"] = {}
    if "$ref" in made:
        references.append(made)
    return made


def _is_kept(keyword: str, value: Any) -> bool:
    fits = FITS.get(keyword)
    if fits is not None and not fits(value):
        return False
    return keyword != "pattern" or (
        _TAKEN_PATTERN.fullmatch(value) is not None and "(?" not in value
    )


def _modern(node: dict[str, Any]) -> dict[str, Any]:
    """The node with tuples and exclusive limits written as since 2020-12 and draft 06."""
    items = node.get("items")
    if isinstance(items, list):
        rest = node.get("additionalItems")
        node = {**node, "prefixItems": items, "items": rest if isinstance(rest, dict) else {}}
    for exclusive, limit in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if node.get(exclusive) is True and limit in node:
            moved = {key: value for key, value in node.items() if key != limit}
            node = {**moved, exclusive: node[limit]}
    return node


def _mend_reference(holder: dict[str, Any], root: dict[str, Any]) -> None:
    """Take a reference away that leads to no schema; one to the root, which llama.cpp refuses, is an object."""
    if holder["$ref"] == "#":
        del holder["$ref"]
        holder.setdefault("type", "object")
    elif not _leads_to_schema(holder["$ref"], root):
        del holder["$ref"]


def _leads_to_schema(reference: str, root: dict[str, Any]) -> bool:
    """Whether it points to a schema that is not again, and again, only a reference."""
    followed: Any = reference
    for _ in range(_REFERENCE_HOPS):
        target = target_of(followed, root)
        if not isinstance(target, dict):
            return False
        followed = target.get("$ref")
        if not isinstance(followed, str):
            return True
    return False


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_array(kind: Any) -> bool:
    return kind == "array" or "array" in _list(kind)
