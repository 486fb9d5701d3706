"""`python -m tests.benchmarks.vectors`: `VectorIndex` beside faiss-cpu's flat index, in one run.

Each subject runs in a process of its own, in turn within each round, on the same vectors: random, of length
1, compared by inner product. The rows it found are compared as well. `--rows`, `--dimension` and `--rounds`
change the size; the default is 100,000 x 768.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import psutil

from actors.store import VectorIndex, VectorOptions
from actors.store.vector_rows import Floats
from tests.benchmarks.harness import Measure, Ratio, Results, machine_facts, printed_json, table

OURS, FAISS = "VectorIndex", "faiss-cpu"
SUBJECTS = (OURS, FAISS)
LIMIT_S = 600
BATCH, K, SEARCHES, BATCHES = 64, 10, 20, 5

MEASURES = {
    "single": Measure(f"one query, k = {K}", "ms"),
    "batch": Measure(f"a batch of {BATCH}, k = {K}", "ms"),
    "add": Measure("add all", "ms"),
    "save": Measure("save", "ms"),
    "load": Measure("load", "ms"),
    "memory": Measure("resident, all vectors", "MiB"),
}


class Index(Protocol):
    """What both can do."""

    def add(self, vectors: Floats) -> None:
        """All vectors at once."""

    def search(self, queries: Floats) -> list[list[int]]:
        """The rows of the best K of each."""

    def save(self, path: Path) -> None:
        """To a file that is not there."""

    def load(self, path: Path) -> None:
        """A new index in place of this one."""


class Ours:
    """A `VectorIndex`."""

    def __init__(self) -> None:
        self._index = VectorIndex(VectorOptions(metric="inner_product"))

    def add(self, vectors: Floats) -> None:
        self._index.add_many([str(number) for number in range(len(vectors))], vectors)

    def search(self, queries: Floats) -> list[list[int]]:
        found = (
            [self._index.search(queries[0], K)]
            if len(queries) == 1
            else self._index.search_many(queries, K)
        )
        return [[int(match.id) for match in matches] for matches in found]

    def save(self, path: Path) -> None:
        self._index.save(path)

    def load(self, path: Path) -> None:
        self._index = VectorIndex()
        self._index.load(path)


class Faiss:
    """Its exact index. It knows no ids, only rows."""

    def __init__(self) -> None:
        # not at the top, so that it takes no memory in the process that measures ours
        self._faiss: Any = importlib.import_module("faiss")
        self._index: Any = None

    def add(self, vectors: Floats) -> None:
        self._index = self._faiss.IndexFlatIP(vectors.shape[1])
        self._index.add(vectors)

    def search(self, queries: Floats) -> list[list[int]]:
        rows: list[list[int]] = self._index.search(queries, K)[1].tolist()
        return rows

    def save(self, path: Path) -> None:
        self._faiss.write_index(self._index, str(path))

    def load(self, path: Path) -> None:
        self._index = self._faiss.read_index(str(path))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.vectors", description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--dimension", type=int, default=768)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--subject", choices=SUBJECTS, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.subject:
        print(json.dumps(measured(given.subject, given.rows, given.dimension)))
        return 0
    facts = machine_facts(given.rounds)
    results, differing = all_rounds(given.rows, given.dimension, given.rounds)
    print(table(results, MEASURES, SUBJECTS, [Ratio(OURS, FAISS)]))
    print(f"\nrows found by one and not by the other: {differing}\n{facts}")
    return 0


def all_rounds(rows: int, dimension: int, rounds: int) -> tuple[Results, int]:
    """The figures, and how many of the rows that were found differ."""
    results = Results()
    found: dict[str, list[list[int]]] = {}
    for _ in range(rounds):
        for subject in SUBJECTS:
            figures = _in_a_process(subject, rows, dimension)
            found[subject] = figures.pop("found")
            results.add(subject, figures)
    pairs = zip(found[OURS], found[FAISS], strict=True)
    return results, sum(len(set(ours) - set(theirs)) for ours, theirs in pairs)


def _in_a_process(subject: str, rows: int, dimension: int) -> dict[str, Any]:
    command = ["-m", "tests.benchmarks.vectors", "--subject", subject]
    size = ["--rows", str(rows), "--dimension", str(dimension)]
    figures: dict[str, Any] = printed_json(sys.executable, *command, *size, limit_s=LIMIT_S)
    return figures


def measured(subject: str, rows: int, dimension: int) -> dict[str, Any]:
    """The figures of one subject, in this process."""
    random = np.random.default_rng(7)
    vectors = random.standard_normal((rows, dimension), np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    queries = random.standard_normal((BATCH, dimension), np.float32)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    index: Index = Ours() if subject == OURS else Faiss()
    figures = {"add": _ms(partial(index.add, vectors))}
    del vectors
    found = index.search(queries)
    figures["single"] = min(_ms(lambda: index.search(queries[:1])) for _ in range(SEARCHES))
    figures["batch"] = min(_ms(lambda: index.search(queries)) for _ in range(BATCHES))
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "index"
        figures["save"] = _ms(lambda: index.save(path))
        figures["memory"] = psutil.Process().memory_info().rss / 2**20
        figures["load"] = _ms(lambda: index.load(path))
    return {**figures, "found": found}


def _ms(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1e3


if __name__ == "__main__":
    sys.exit(main())
