"""`python -m tests.benchmarks`: run all benchmarks of the runtime, print one Markdown table.

`--quick` does less of everything and is over within a minute. The exit status is 1 if a benchmark failed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from importlib.util import find_spec

from tests.benchmarks import floors, pykka_rows, runtime_rows
from tests.benchmarks.harness import FULL, QUICK, Bench, Ratio, machine_facts, run_all, table
from tests.benchmarks.measures import MEASURES

GREENROOM, FLOOR, PYKKA = "greenroom", "floor", "pykka"
GREENROOM_UV, FLOOR_UV = "greenroom/uvloop", "floor/uvloop"


def all_benches() -> list[Bench]:
    """Every bench that can run here; those on uvloop only where it is installed."""
    benches = [
        *floors.benches(FLOOR, asyncio.new_event_loop),
        *runtime_rows.benches(GREENROOM, uvloop=False),
        *pykka_rows.benches(PYKKA),
    ]
    if find_spec("uvloop") is not None:
        import uvloop  # noqa: PLC0415  an optional extra

        benches += floors.benches(FLOOR_UV, uvloop.new_event_loop)
        benches += runtime_rows.benches(GREENROOM_UV, uvloop=True)
    return benches


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="less of everything, under a minute")
    parser.add_argument(
        "--only", metavar="KIND", action="append", help="only this kind, may be repeated"
    )
    parser.add_argument("--child", metavar="KIND/SUBJECT", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    scale = QUICK if options.quick else FULL
    benches = all_benches()
    if options.child:
        (bench,) = (bench for bench in benches if bench.name == options.child)
        print(json.dumps(bench.run(scale)))
        return 0
    if options.only:
        benches = [bench for bench in benches if bench.kind in options.only]
    facts = machine_facts(scale.rounds)
    results = run_all(benches, scale, options.quick)
    subjects = list(dict.fromkeys(bench.subject for bench in benches))
    ratios = [Ratio(GREENROOM, FLOOR), Ratio(GREENROOM, PYKKA), Ratio(GREENROOM_UV, FLOOR_UV)]
    print(
        table(results, MEASURES, subjects, [ratio for ratio in ratios if ratio.subject in subjects])
    )
    print(f"\n{facts}. Ratios are of costs: 2 means twice the time or memory of the other.")
    for name, reason in results.failures.items():
        print(f"failed: {name}: {reason}", file=sys.stderr)
    return 1 if results.failures else 0


if __name__ == "__main__":
    sys.exit(main())
