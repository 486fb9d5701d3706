"""Patterns of strangers: judged before they are tried."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.tools.schema_pattern import Effort, judged

HOSTILE = [
    ("^(a+)+$", "a" * 50 + "!"),
    ("^(a|a)*$", "a" * 50 + "!"),
    ("^(a|aa)+$", "a" * 50 + "!"),
    ("(a?){40}a{40}", "a" * 40),
    ("a?" * 40 + "a" * 40, "a" * 40),
    ("^(([a-z])+.)+[A-Z]([a-z])+$", "a" * 60),
    ("(.*)(.*)(.*)(.*)(.*)x", "a" * 2000),
    ("((){1000}){1000}", ""),
    ("a*a*b", "a" * 20_000),
]


@pytest.mark.parametrize(("pattern", "text"), HOSTILE)
def test_a_pattern_that_could_take_for_ever_is_not_tried(pattern: str, text: str) -> None:
    known = judged(pattern)
    assert known is None or not known.effort.within_limit(len(text))
    assert known is None or not known.refuses(text)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("^[a-z]+$", "A"),
        (r"^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2})?$", "2026-1-1"),
        ("^(GET|POST)$", "PUT"),
        (r"^[\w.-]+@[\w-]+\.[a-z]{2,}$", "nobody"),
        ("x", "a" * 1000),
        ("^$", "a"),
        (r"^(?:ab)*$", "aba"),
        (r"^\u00e9\x41\/$", "e"),
        ("^a*?b$", "a"),
        ("^.{1,100}$", "a" * 101),
        ("^[^/]+(/[^/]+)?$", "/"),
    ],
)
def test_an_ordinary_pattern_is_tried(pattern: str, text: str) -> None:
    known = judged(pattern)
    assert known is not None
    assert known.refuses(text)


def test_a_text_that_matches_is_not_refused() -> None:
    known = judged("b+")
    assert known is not None
    assert not known.refuses("abc")


def test_a_long_text_is_not_tried_where_that_could_take_long() -> None:
    known = judged("^[a-z]*[0-9]*$")
    assert known is not None
    assert known.refuses("?" * 300)
    assert not known.refuses("?" * 400)


@pytest.mark.parametrize(
    "pattern",
    [
        "(?=a)b",
        "(?i)a",
        r"^(a)\1$",
        r"^\p{L}+$",
        "(?<name>a)",
        "a++",
        "a{2}{3}",
        "*a",
        "(a",
        "a)",
        "[a",
        "[[a]",
        "[a--b]",
        "[z-a]",
        "a" * 1001,
        "(" * 30 + "a" + ")" * 30,
    ],
)
def test_what_is_beyond_the_plain_syntax_is_not_judged(pattern: str) -> None:
    assert judged(pattern) is None


def test_efforts_in_a_row_multiply() -> None:
    assert Effort(2, 1).then(Effort(3, 2)) == Effort(6, 3)


@given(st.text(st.sampled_from("ab|()[]*+?{}12,^$.\\-"), max_size=12), st.text("ab", max_size=12))
def test_what_is_tried_says_what_python_says(pattern: str, text: str) -> None:
    known = judged(pattern)
    if known is not None and known.effort.within_limit(len(text)):
        assert known.refuses(text) == (re.search(pattern, text) is None)
