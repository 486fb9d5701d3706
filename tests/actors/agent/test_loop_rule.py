"""The loop rule: what counts as the same call, and which call in a row is not let through."""

from __future__ import annotations

from typing import Any

import pytest

from actors.agent.loop_rule import RepeatedCalls, same_json

SAME: list[tuple[Any, Any]] = [
    ({}, {}),
    (1, 1.0),
    (0, -0.0),
    ({"a": 1, "b": [1, {"c": None}]}, {"b": [1, {"c": None}], "a": 1.0}),
    ([True, False], [True, False]),
    ("é", "é"),
    (None, None),
]

DIFFERENT: list[tuple[Any, Any]] = [
    (True, 1),
    (1, True),
    (False, 0),
    ({"a": [1]}, {"a": [True]}),
    ({"a": 1}, {"a": 1, "b": 2}),
    ({"a": None}, {}),
    ([1, 2], [2, 1]),
    ([1], [1, 1]),
    ([], {}),
    ({}, None),
    ("1", 1),
    ("a", "A"),
    (float("nan"), float("nan")),
    (1, [1]),
]


@pytest.mark.parametrize(("left", "right"), SAME)
def test_equal_json_values_are_the_same(left: Any, right: Any) -> None:
    assert same_json(left, right)
    assert same_json(right, left)


@pytest.mark.parametrize(("left", "right"), DIFFERENT)
def test_unequal_json_values_are_not_the_same(left: Any, right: Any) -> None:
    assert not same_json(left, right)
    assert not same_json(right, left)


def test_deeply_nested_values_are_compared_without_recursion() -> None:
    def nest(leaf: Any) -> Any:
        for _ in range(100_000):
            leaf = [leaf]
        return leaf

    assert same_json(nest(1), nest(1.0))
    assert not same_json(nest(1), nest(True))


Call = tuple[str, dict[str, Any]]
PING: Call = ("ping", {})
ECHO: Call = ("echo", {"message": "x"})


@pytest.mark.parametrize(
    ("limit", "calls", "admitted"),
    [
        (4, [PING] * 4, [True, True, True, False]),
        (2, [PING] * 2, [True, False]),
        (3, [PING, PING, ECHO, PING, PING, PING], [True] * 5 + [False]),
        (4, [PING, PING, PING, ECHO, PING], [True] * 5),
        (2, [("a", {"n": 1}), ("a", {"n": 1.0})], [True, False]),
        (2, [("a", {"n": 1}), ("a", {"n": True})], [True, True]),
        (2, [("a", {}), ("A", {})], [True, True]),
        (2, [PING, ECHO, PING, ECHO], [True] * 4),
        (1, [PING] * 2, [True, False]),
        (None, [PING] * 50, [True] * 50),
    ],
)
def test_the_nth_equal_call_in_a_row_is_not_let_through(
    limit: int | None, calls: list[Call], admitted: list[bool]
) -> None:
    repeats = RepeatedCalls(limit)
    assert [repeats.admit(name, arguments) for name, arguments in calls] == admitted
