"""The index beside the cases of gaia/vector: what it takes, and what it keeps when something is refused."""

from __future__ import annotations

import array
from typing import Any

import numpy as np
import pytest

from actors.errors import AgentError, InvalidArgument, VectorNotFound
from actors.store import VectorIndex, VectorOptions


@pytest.mark.parametrize(
    "vector",
    [
        [1, 2],
        (1.0, 2.0),
        np.array([1, 2]),
        np.array([1, 2], ">f8"),
        array.array("d", [1, 2]),
        [True, 2],
    ],
)
def test_anything_that_is_numbers_is_a_vector(vector: Any) -> None:
    index = VectorIndex()
    index.add("a", vector)
    assert index.get("a").tolist() == [1, 2]
    assert index.get("a").dtype == np.float32


@pytest.mark.parametrize(
    ("vector", "why"),
    [
        ([], "no numbers are given"),
        ([1.0], "size 1, expected 2"),
        ([[1.0, 2.0]], "shape"),
        (3.0, "shape"),
        ([1.0, float("nan")], "not finite"),
        ([1.0, 1e39], "not finite"),
        ([1.0, 10**400], "expected numbers"),
        (["a", "b"], "expected numbers"),
        ([[1.0], [1.0, 2.0]], "expected numbers"),
        (None, "shape"),
    ],
)
def test_what_is_no_vector_of_the_index_is_refused_everywhere(vector: Any, why: str) -> None:
    index = VectorIndex()
    index.add("a", [1.0, 2.0])
    for call in (
        lambda: index.add("b", vector),
        lambda: index.upsert("a", vector),
        lambda: index.search(vector, 1),
    ):
        with pytest.raises(InvalidArgument, match=why):
            call()
    assert index.ids == ["a"]
    assert index.get("a").tolist() == [1.0, 2.0]


@pytest.mark.parametrize("id_", ["", "\ud800"])
def test_an_id_that_no_file_can_hold_is_refused(id_: str) -> None:
    index = VectorIndex()
    with pytest.raises(InvalidArgument, match="the id of a vector"):
        index.add(id_, [1.0])
    with pytest.raises(InvalidArgument, match="the id of a vector"):
        index.upsert(id_, [1.0])
    with pytest.raises(InvalidArgument, match="the id of a vector"):
        index.add_many([id_], [[1.0]])
    assert (len(index), index.dimension) == (0, 0)


@pytest.mark.parametrize(
    ("ids", "vectors", "why"),
    [
        (["b", "b"], [[1, 2], [3, 4]], "given twice: 'b'"),
        (["b", "a"], [[1, 2], [3, 4]], "'a' already"),
        (["b"], [[1, 2], [3, 4]], "1 ids are given, and 2 vectors"),
        (["b", "c"], [], "2 ids are given, and 0 vectors"),
        (["b", "c"], [[1, 2], [3, np.inf]], "not finite"),
        (["b"], [1, 2], "expected rows"),
    ],
)
def test_many_are_added_all_or_none(ids: list[str], vectors: Any, why: str) -> None:
    index = VectorIndex()
    index.add("a", [0, 0])
    with pytest.raises(InvalidArgument, match=why):
        index.add_many(ids, vectors)
    assert index.ids == ["a"]
    index.add_many([], [])
    index.add_many(["x", "y"], [[1, 2], [3, 4]])
    assert index.ids == ["a", "x", "y"]


def test_normalised_vectors_have_length_1_whatever_their_size() -> None:
    index = VectorIndex(VectorOptions(normalize=True, metric="inner_product"))
    for number, scale in enumerate((1e-38, 1.0, 1e38)):
        index.add(str(number), [3 * scale, -2 * scale])
        assert np.linalg.norm(index.get(str(number))) == pytest.approx(1)
    with pytest.raises(InvalidArgument, match="all numbers are zero"):
        index.add("zero", [0.0, -0.0])
    assert index.search([6.0, -4.0], 1)[0].score == pytest.approx(1)


def test_a_vector_that_was_got_is_a_copy() -> None:
    index = VectorIndex()
    given = np.array([1.0, 2.0], np.float32)
    index.add("a", given)
    given[0] = index.get("a")[1] = 9
    assert index.get("a").tolist() == [1.0, 2.0]


def test_a_vector_that_is_not_there_is_named() -> None:
    with pytest.raises(VectorNotFound) as caught:
        VectorIndex().get("ghost")
    assert str(caught.value) == "there is no vector 'ghost' among 0"
    assert isinstance(caught.value, AgentError)
    assert isinstance(caught.value, KeyError)


def test_clear_keeps_options_and_dimension() -> None:
    index = VectorIndex(VectorOptions(model="m", metric="inner_product"))
    index.add("a", [1.0, 2.0])
    index.clear()
    assert index.options == VectorOptions(model="m", metric="inner_product", dimension=2)
    with pytest.raises(InvalidArgument, match="size 1, expected 2"):
        index.add("a", [1.0])


@pytest.mark.parametrize("options", [{"metric": "cosine"}, {"dimension": -1}, {"model": "\ud800"}])
def test_options_that_cannot_be_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument, match=next(iter(options))):
        VectorOptions(**options)


def test_a_negative_k_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="k is -1"):
        VectorIndex(VectorOptions(dimension=1)).search([1.0], -1)
