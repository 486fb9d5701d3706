"""How benchmarks are run and shown: interleaved rounds, medians, ratios, one Markdown table.

A `Bench` measures one subject (a way to have actors) and gives one or more figures. All benches of one kind
run one after the other in each round, so that a machine that slows down slows all of them; the table holds
the median over the rounds. Compare only within one table.

When not to use it: to assert anything. A figure of a shared machine is a fact about that machine.
"""

from __future__ import annotations

import gc
import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

Figures = Mapping[str, float]

CHILD_LIMIT_S = 120
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Scale:
    """How much of everything one round does."""

    rounds: int
    actors: int  # spawned and idle
    threads: int  # the same for actors that are threads
    crowd: int  # supervised children started and stopped at once
    messages: int
    asks: int
    hops: int
    fans: int  # fan-outs to 1,000 actors
    restarts: int


FULL = Scale(5, 10_000, 1_000, 100_000, 100_000, 5_000, 20_000, 20, 500)
QUICK = Scale(3, 5_000, 300, 20_000, 20_000, 1_000, 4_000, 3, 100)


@dataclass(frozen=True, slots=True)
class Measure:
    """A row of the table. `rate` is true where more is better."""

    title: str
    unit: str
    rate: bool = False


@dataclass(frozen=True, slots=True)
class Bench:
    """One run of one subject. `isolated` ones get a process of their own in each round."""

    kind: str
    subject: str
    run: Callable[[Scale], Figures]
    isolated: bool = False

    @property
    def name(self) -> str:
        """How the child process is told which one to run."""
        return f"{self.kind}/{self.subject}"


@dataclass(frozen=True, slots=True)
class Ratio:
    """A column that compares two subjects: how many times the cost of `floor` is that of `subject`."""

    subject: str
    floor: str


class Results:
    """All figures of one run, by measure and subject."""

    def __init__(self) -> None:
        self._figures: dict[tuple[str, str], list[float]] = {}
        self.failures: dict[str, str] = {}

    def add(self, subject: str, figures: Figures) -> None:
        """Take the figures of one round."""
        for measure, value in figures.items():
            self._figures.setdefault((measure, subject), []).append(value)

    def median(self, measure: str, subject: str) -> float | None:
        """The median over the rounds, None if this subject has no such figure."""
        values = self._figures.get((measure, subject))
        return statistics.median(values) if values else None


def run_all(benches: Sequence[Bench], scale: Scale, quick: bool) -> Results:
    """Run every bench in every round; a bench that fails is not tried again, and is told of."""
    results = Results()
    ordered = _interleaved(benches)
    for number in range(scale.rounds):
        for bench in ordered:
            if bench.name in results.failures:
                continue
            _show_progress(f"round {number + 1}/{scale.rounds}: {bench.name}")
            try:
                results.add(bench.subject, _run_one(bench, scale, quick))
            except Exception as error:
                results.failures[bench.name] = f"{type(error).__name__}: {error}"
    _show_progress("")
    return results


def _show_progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r{text:<60}\r", end="", file=sys.stderr, flush=True)


def _interleaved(benches: Sequence[Bench]) -> list[Bench]:
    kinds = list(dict.fromkeys(bench.kind for bench in benches))
    return sorted(benches, key=lambda bench: kinds.index(bench.kind))


def _run_one(bench: Bench, scale: Scale, quick: bool) -> Figures:
    if bench.isolated:
        return _run_in_child(bench, quick)
    gc.collect()
    return bench.run(scale)


def _run_in_child(bench: Bench, quick: bool) -> Figures:
    command = [sys.executable, "-m", "tests.benchmarks", "--child", bench.name]
    figures: dict[str, float] = printed_json(*command, *["--quick"] * quick, limit_s=CHILD_LIMIT_S)
    return figures


def printed_json(*command: object, limit_s: float) -> Any:
    """What a program printed last, as JSON; before it there may be a log. Raises RuntimeError: it failed."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=limit_s,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{command} failed: {done.stderr.strip()[-800:]}")
    return json.loads(done.stdout.splitlines()[-1])


def table(
    results: Results,
    measures: Mapping[str, Measure],
    subjects: Sequence[str],
    ratios: Sequence[Ratio],
) -> str:
    """The medians as a Markdown table, one measure a row, then the ratios of costs."""
    heads = ["", *subjects, *(f"{ratio.subject} : {ratio.floor}" for ratio in ratios)]
    rows = []
    for key, measure in measures.items():
        medians = {subject: results.median(key, subject) for subject in subjects}
        if all(value is None for value in medians.values()):
            continue
        cells = [_number(medians[subject]) for subject in subjects]
        rows.append(
            [f"{measure.title}, {measure.unit}", *cells, *_ratios(measure, medians, ratios)]
        )
    return "\n".join(_markdown([heads, ["---", *["---:"] * (len(heads) - 1)], *rows]))


def _ratios(
    measure: Measure, medians: Mapping[str, float | None], ratios: Iterable[Ratio]
) -> list[str]:
    cells = []
    for ratio in ratios:
        cost, floor = medians.get(ratio.subject), medians.get(ratio.floor)
        if measure.rate:
            cost, floor = floor, cost
        cells.append(f"{cost / floor:.2g}" if cost is not None and floor else "")
    return cells


def _number(value: float | None) -> str:
    if value is None:
        return ""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _markdown(rows: Sequence[Sequence[str]]) -> list[str]:
    return ["| " + " | ".join(row) + " |" for row in rows]


def machine_facts(rounds: int) -> str:
    """What the figures depend on, as one line of text."""
    packages = []
    for name in ("pykka", "aiohttp", "uvloop", "msgspec"):
        try:
            packages.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            packages.append(f"no {name}")
    return (
        f"{_processor()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; "
        f"{platform.system()} {platform.release()}; "
        f"{platform.python_implementation()} {platform.python_version()}, {', '.join(packages)}; "
        f"medians of {rounds} rounds"
    )


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()
