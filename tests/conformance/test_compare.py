"""The runner itself: it tells what is not as a case expects, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from actors.errors import ConfigError
from tests.conformance.compare import differences, error_differences
from tests.conformance.error_kinds import KINDS


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"a": 1}, {"a": 1, "more": 2}),
        (1.0, 1.0000001),
        (1, 1.0),
        ([None, "x", {"a": []}], [None, "x", {"a": []}]),
    ],
)
def test_what_is_expected_passes(expected: Any, got: Any) -> None:
    assert differences(expected, got) == []


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        ({"a": 1}, {}),
        ({"a": {"b": 1}}, {"a": {"b": 1, "more": 2}}),
        ([1, 2], [2, 1]),
        ([1], [1, 2]),
        (1.0, 1.00001),
        (True, 1),
        (0, False),
        (None, ""),
        ("1", 1),
        ({}, []),
    ],
)
def test_what_is_not_expected_is_told(expected: Any, got: Any) -> None:
    assert differences(expected, got)


@pytest.mark.parametrize(
    ("kind", "fragments", "good"),
    [
        ("invalid_argument", ["MAXSTEPS", "above"], True),
        ("invalid_argument", ["another"], False),
        ("out_of_range", [], False),
    ],
)
def test_an_error_is_of_its_kind_and_says_each_fragment(
    kind: str, fragments: list[str], good: bool
) -> None:
    error = ConfigError("max_steps", "expected a number above 0 (also called maxSteps)")
    expected = {"kind": kind, "contains": fragments}
    assert (error_differences(expected, KINDS[kind], error) == []) is good
