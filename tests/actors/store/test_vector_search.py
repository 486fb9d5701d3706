"""Searches rank as float64 arithmetic over all rows does, whatever the numbers, ties and holes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from actors.store import Metric, VectorIndex, VectorOptions

METRICS: tuple[Metric, ...] = ("l2", "inner_product")

Vectors = NDArray[np.float32]


def best_by_brute_force(
    ids: list[str], vectors: Vectors, query: Vectors, k: int, metric: Metric
) -> list[tuple[str, float]]:
    """Every score in float64, kept as float32; a stable sort."""
    rows, asked = vectors.astype(np.float64), query.astype(np.float64)
    with np.errstate(over="ignore"):
        exact = (
            1 / (1 + ((rows - asked) ** 2).sum(axis=1))
            if metric == "l2"
            else (rows * asked).sum(axis=1)
        )
        scores = exact.astype(np.float32)
    order = np.argsort(-scores, kind="stable")[:k]
    return [(ids[row], float(scores[row])) for row in order]


def index_of(vectors: Vectors, metric: Metric) -> VectorIndex:
    """With the row's number as id."""
    index = VectorIndex(VectorOptions(metric=metric))
    index.add_many([str(row) for row in range(len(vectors))], vectors)
    return index


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("scale", [1e-44, 1e-30, 1e-19, 1e-3, 1.0, 1e3, 1e15, 1e19, 1e38])
@pytest.mark.parametrize("offset", [0.0, 1.0, 1e4])
def test_every_magnitude_is_ranked_exactly(metric: Metric, scale: float, offset: float) -> None:
    random = np.random.default_rng(1)
    with np.errstate(over="ignore"):
        vectors = ((random.standard_normal((3_000, 24)) + offset) * scale).astype(np.float32)
    vectors = np.clip(vectors, -3e38, 3e38)
    index = index_of(vectors, metric)
    for k in (1, 10, 2_999, 5_000):
        expected = best_by_brute_force(index.ids, vectors, vectors[7], k, metric)
        assert index.search(vectors[7], k) == expected


@pytest.mark.parametrize("metric", METRICS)
def test_rows_that_are_the_same_keep_their_order_wherever_they_lie(metric: Metric) -> None:
    random = np.random.default_rng(2)
    vectors = random.standard_normal((50, 33)).astype(np.float32)[random.integers(0, 50, 40_000)]
    index = index_of(vectors, metric)
    expected = best_by_brute_force(index.ids, vectors, vectors[0], 1_000, metric)
    assert index.search(vectors[0], 1_000) == expected


@pytest.mark.parametrize("metric", METRICS)
def test_a_batch_finds_what_single_searches_find(metric: Metric) -> None:
    random = np.random.default_rng(3)
    vectors = random.standard_normal((20_000, 16)).astype(np.float32)
    queries = random.standard_normal((130, 16)).astype(np.float32)
    index = index_of(vectors, metric)
    found = index.search_many(queries, 5)
    assert found == [index.search(query, 5) for query in queries]
    assert found[9] == best_by_brute_force(index.ids, vectors, queries[9], 5, metric)
    assert index.search_many([], 5) == []
    assert index.search_many(queries[:2], 0) == [[], []]


NUMBERS = st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 1e-40, 1e-20, 3.0, 1e10, 1e19, -3e38])
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["upsert", "upsert", "upsert", "remove", "clear"]),
        st.integers(0, 30),
        st.lists(NUMBERS, min_size=3, max_size=3),
    ),
    max_size=150,
)


@settings(deadline=None)
@given(
    steps=STEPS, query=st.lists(NUMBERS, min_size=3, max_size=3), metric=st.sampled_from(METRICS)
)
def test_an_index_is_like_a_dict_that_is_searched(
    steps: list[tuple[str, int, list[float]]], query: list[float], metric: Metric
) -> None:
    index = VectorIndex(VectorOptions(metric=metric, dimension=3))
    model: dict[str, list[float]] = {}
    for step, number, vector in steps:
        id_ = str(number)
        if step == "remove":
            assert index.remove(id_) == (model.pop(id_, None) is not None)
        elif step == "clear" and number == 0:
            index.clear()
            model.clear()
        elif step == "upsert":
            index.upsert(id_, vector)
            model[id_] = vector
    assert index.ids == list(model)
    assert len(index) == len(model)
    rows = np.array(list(model.values()), np.float32).reshape(-1, 3)
    assert [index.get(id_).tolist() for id_ in model] == rows.tolist()
    for k in (0, 1, 3, 100):
        expected = best_by_brute_force(list(model), rows, np.array(query, np.float32), k, metric)
        assert index.search(query, k) == expected


def test_holes_are_closed_in_order() -> None:
    random = np.random.default_rng(4)
    vectors = random.standard_normal((1_000, 4)).astype(np.float32)
    index = index_of(vectors, "l2")
    kept = [str(row) for row in range(1_000) if row % 3 == 0]
    for row in range(1_000):
        if row % 3:
            assert index.remove(str(row))
    index.add("last", vectors[1])
    assert index.ids == [*kept, "last"]
    expected = best_by_brute_force(
        index.ids, np.vstack([vectors[::3], vectors[1]]), vectors[1], 9, "l2"
    )
    assert index.search(vectors[1], 9) == expected
