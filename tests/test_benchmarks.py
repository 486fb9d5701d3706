"""The benchmarks run, at a scale where their figures mean nothing, so that they cannot rot unseen."""

from __future__ import annotations

import pytest

from tests.benchmarks import agent_turns, store, vectors
from tests.benchmarks.__main__ import all_benches
from tests.benchmarks.harness import Bench, Measure, Ratio, Results, Scale, run_all, table
from tests.benchmarks.measures import MEASURES, percentiles
from tests.benchmarks.model_process import model_process

TINY = Scale(
    rounds=1, actors=5, threads=5, crowd=5, messages=100, asks=5, hops=150, fans=1, restarts=2
)
BENCHES = all_benches()


@pytest.mark.parametrize("bench", BENCHES, ids=lambda bench: bench.name)
def test_bench_gives_figures_the_table_knows(bench: Bench) -> None:
    figures = bench.run(TINY)
    assert figures
    assert figures.keys() <= MEASURES.keys()


def test_every_row_of_the_table_is_measured_for_greenroom() -> None:
    kinds = {bench.kind for bench in BENCHES if bench.subject == "greenroom"}
    assert {bench.kind for bench in BENCHES} == kinds


def test_the_table_shows_medians_and_ratios_of_cost() -> None:
    results = Results()
    for value in (1.0, 30.0, 3.0):
        results.add("ours", {"hop": value})
    results.add("floor", {"hop": 2.0, "rate": 100_000})
    results.add("ours", {"rate": 50_000})
    measures = {"hop": Measure("hop", "us"), "rate": Measure("rate", "1/s", rate=True)}
    assert table(results, measures, ["ours", "floor"], [Ratio("ours", "floor")]) == (
        "|  | ours | floor | ours : floor |\n"
        "| --- | ---: | ---: | ---: |\n"
        "| hop, us | 3 | 2 | 1.5 |\n"
        "| rate, 1/s | 50,000 | 100,000 | 2 |"
    )


def test_a_figure_one_subject_lacks_leaves_its_cells_empty() -> None:
    results = Results()
    results.add("ours", {"hop": 1.0})
    text = table(
        results, {"hop": Measure("hop", "us")}, ["ours", "floor"], [Ratio("ours", "floor")]
    )
    assert text.splitlines()[-1] == "| hop, us | 1 |  |  |"


def test_a_bench_that_fails_is_told_of_and_the_others_go_on() -> None:
    def fail(_scale: Scale) -> dict[str, float]:
        raise ValueError("no luck")

    benches = [Bench("hop", "ours", fail), Bench("hop", "floor", lambda _scale: {"hop": 1.0})]
    results = run_all(benches, TINY, quick=True)
    assert results.failures == {"hop/ours": "ValueError: no luck"}
    assert results.median("hop", "floor") == 1.0


def test_percentiles_are_in_microseconds() -> None:
    seconds = [number / 1e6 for number in range(1, 101)]
    assert percentiles("ask", seconds) == pytest.approx({"ask_p50": 51.0, "ask_p99": 100.0})


@pytest.mark.parametrize("uvloop", [False, True])
def test_turns_are_measured_for_every_subject_and_crowds_all_answer(uvloop: bool) -> None:
    if uvloop:
        pytest.importorskip("uvloop")
    results = agent_turns.measure_apart(agent_turns.Size(rounds=1, turns=1), uvloop=uvloop)
    with model_process() as base_url:
        assert agent_turns.crowd(base_url, 3, uvloop=uvloop) > 0
    for subject in agent_turns.SUBJECTS:
        for measure in agent_turns.MEASURES:
            assert results.median(measure, subject) is not None


def test_the_benchmark_of_vectors_finds_the_same_rows_as_faiss() -> None:
    results, differing = vectors.all_rounds(rows=500, dimension=16, rounds=1)
    assert differing == 0
    for measure in vectors.MEASURES:
        assert all(results.median(measure, subject) is not None for subject in vectors.SUBJECTS)


def test_every_row_of_the_store_is_measured() -> None:
    results = store.measured(store.Amount(rounds=1, statements=10, commits=5, writes=20))
    for measure, subjects in (
        ("insert", (store.APSW, store.DATABASE)),
        ("inside", (store.APSW, store.DATABASE)),
        ("select", (store.APSW, store.DATABASE)),
        ("writes", (store.WRITER, store.ALONE)),
    ):
        assert all(results.median(measure, subject) is not None for subject in subjects)
