"""The rule that stops a model which asks for the same call again and again (gaia 1.4).

The list of calls lives for one turn. It takes every call that was let through, whatever became of it:
refused, failed and unknown ones count. Names are compared as the model wrote them, arguments as JSON
values.
"""

from __future__ import annotations

from typing import Any


def same_json(left: Any, right: Any) -> bool:
    """Whether two decoded JSON values are equal.

    Numbers are equal by value (`1` and `1.0`), but a boolean is no number: `true` is not `1`. The order
    of keys does not matter. Works without recursion, so depth is no problem.
    """
    pairs = [(left, right)]
    while pairs:
        one, other = pairs.pop()
        if isinstance(one, dict):
            if not isinstance(other, dict) or one.keys() != other.keys():
                return False
            pairs.extend((value, other[key]) for key, value in one.items())
        elif isinstance(one, list):
            if not isinstance(other, list) or len(one) != len(other):
                return False
            pairs.extend(zip(one, other, strict=True))
        elif isinstance(one, bool) or isinstance(other, bool):
            if one is not other:
                return False
        elif one != other:
            return False
    return True


class RepeatedCalls:
    """The calls of one turn so far, as far back as the rule looks.

    `limit` is R of the rule: the R-th equal call in a row is not let through. Below 2 it counts as 2
    (validation refuses it, construction does not). None switches the rule off.
    """

    __slots__ = ("_arguments", "_limit", "_name", "_run")

    def __init__(self, limit: int | None) -> None:
        self._limit = None if limit is None else max(limit, 2)
        self._name: str | None = None
        self._arguments: Any = None
        self._run = 0

    def admit(self, name: str, arguments: Any) -> bool:
        """Note a call that is about to run; False, and nothing noted, if it must not."""
        if self._limit is None:
            return True
        if name != self._name or not same_json(arguments, self._arguments):
            self._name, self._arguments, self._run = name, arguments, 1
            return True
        if self._run >= self._limit - 1:
            return False
        self._run += 1
        return True
