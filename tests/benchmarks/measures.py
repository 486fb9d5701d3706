"""What is measured, in the order of the table, and the small tools every subject measures with."""

from __future__ import annotations

import gc
import logging
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from resource import getpagesize
from typing import Any

from tests.benchmarks.harness import Figures, Measure

FAN = 1_000
RING = 100
LIMIT_S = 60.0

MEASURES = {
    "spawn": Measure("spawn", "actors/s", rate=True),
    "spawn_supervised": Measure("spawn under a supervisor", "actors/s", rate=True),
    "start_child": Measure("start_child, awaiting each", "actors/s", rate=True),
    "idle_rss": Measure("idle actor, resident", "KiB"),
    "idle_traced": Measure("idle actor, Python objects", "KiB"),
    "tell_thread": Measure("tell from a thread", "messages/s", rate=True),
    "tell_actor": Measure("tell between actors", "messages/s", rate=True),
    "ask_thread_p50": Measure("ask from a thread, median", "us"),
    "ask_thread_p99": Measure("ask from a thread, p99", "us"),
    "ask_actor_p50": Measure("ask between actors, median", "us"),
    "ask_actor_p99": Measure("ask between actors, p99", "us"),
    "ring": Measure("ring hop", "us"),
    "fan": Measure(f"fan-out and fan-in, {FAN:,} actors", "ms"),
    "restart": Measure("fail, restart, answer again", "us"),
    "stop": Measure("stop all", "us/actor"),
    "stop_supervised": Measure("stop the supervisor of a crowd", "s"),
    "memory_back": Measure("resident above the start after that", "%"),
    "blocks_left": Measure("live memory blocks left by each of the crowd", "blocks"),
}


def percentiles(kind: str, seconds: Sequence[float]) -> Figures:
    """The median and the 99th percentile of some latencies, in microseconds."""
    ordered = sorted(seconds)
    return {
        f"{kind}_p50": ordered[len(ordered) // 2] * 1e6,
        f"{kind}_p99": ordered[len(ordered) * 99 // 100] * 1e6,
    }


def resident_bytes() -> int:
    """How much of this process is in memory."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * getpagesize()


def idle_kib(make: Callable[[int], Any], count: int) -> Figures:
    """What `count` idle things cost each: resident first, then, made a second time, as Python objects.

    For a process of its own: memory that earlier work left free would hide what the things need. The
    first thousand are not counted, so that what is made once does not count.
    """
    kept = [make(1_000)]
    gc.collect()
    start = resident_bytes()
    kept.append(make(count))
    gc.collect()
    resident = resident_bytes() - start
    tracemalloc.start()
    start, _ = tracemalloc.get_traced_memory()
    kept.append(make(count))
    gc.collect()
    traced = tracemalloc.get_traced_memory()[0] - start
    tracemalloc.stop()
    return {"idle_rss": resident / count / 1024, "idle_traced": traced / count / 1024}


@contextmanager
def quiet(logger_name: str) -> Iterator[None]:
    """Nothing is logged of the failures on purpose, so that no subject pays for a terminal."""
    logger = logging.getLogger(logger_name)
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(level)
