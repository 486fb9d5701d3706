"""Any value becomes JSON text, and nothing raises."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.output.json_text import compact_json, indented_json, printable


class Secretive:
    """An object that cannot be described."""

    def __repr__(self) -> str:
        raise OSError("no")


def circle() -> list[Any]:
    knot: list[Any] = []
    knot.append(knot)
    return knot


def deep() -> list[Any]:
    nest: list[Any] = []
    for _ in range(100_000):
        nest = [nest]
    return nest


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": [1, 2.5, None, True]}, '{"a":[1,2.5,null,true]}'),
        (float("nan"), "null"),
        ({"name": "\ud800x"}, '{"name":"\ufffdx"}'),
        ({"\ud800": 1}, '{"\ufffd":1}'),
        ({(1, 2): "pair"}, '{"(1, 2)":"pair"}'),
        ({7}, "[7]"),
        (object, "\"<class 'object'>\""),
        (Secretive(), '"<Secretive: its repr raised OSError>"'),
        (10**5000, '"<int: its repr raised ValueError>"'),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_is_said_on_one_line(value: Any, text: str) -> None:
    assert compact_json(value) == text


@pytest.mark.parametrize("value", [circle(), deep()], ids=["circle", "deep"])
def test_what_has_no_end_is_cut(value: Any) -> None:
    assert '"..."' in compact_json(value)
    assert '"..."' in indented_json(value)


def test_indent_is_two() -> None:
    assert indented_json({"a": [1]}) == '{\n  "a": [\n    1\n  ]\n}'


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()), inner),
)


@given(json_like)
def test_what_comes_out_is_json_that_utf_8_can_carry(value: Any) -> None:
    msgspec.json.decode(compact_json(value).encode())
    msgspec.json.decode(indented_json(value).encode())


def test_lone_surrogates_become_the_replacement_character() -> None:
    assert printable("a\udcff\U0001f600") == "a\ufffd\U0001f600"
