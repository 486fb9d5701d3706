"""Which values settings can have (gaia 16, vix 4). Pure: a table of rules over plain values.

The order is vix's, gaia's own settings last; the first problem is the one that is told.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

_TEXTS = ("provider", "model", "base_url", "memory_dir", "cache_dir", "runs_dir", "logs_dir")

_SENT = ("model", "base_url")

_ABOVE_ZERO = (
    "timeout_ms",
    "max_files",
    "max_file_size",
    "max_context_chars",
    "max_tool_output",
    "tool_timeout_ms",
    "max_tool_rounds",
)

_ABOVE_ZERO_IN_GAIA = (
    "max_steps",
    "max_tokens",
    "context_size",
    "max_plan_iterations",
    "connect_timeout_s",
    "request_timeout_s",
)

_AT_LEAST = {"max_consecutive_repeats": 2, "max_history_messages": 0, "calls_at_once": 0}

Problem = tuple[str, str]
"""The name of a setting, and what is wrong with it."""


def problems(
    values: Mapping[str, Any], choices: Mapping[str, tuple[str, ...]]
) -> Iterator[Problem]:
    """Every setting that has a value it cannot have. `values` are all settings, by name."""
    yield from _empty_texts(values)
    yield from _unsendable_texts(values)
    yield from _not_above_zero(values, _ABOVE_ZERO)
    if values["use_cache"]:
        yield from _not_above_zero(values, ("cache_ttl_ms",), " while use_cache is on")
    if values["allow_process"] and not values["allowed_programs"]:
        yield "allowed_programs", "expected at least one program while allow_process is on"
    yield from unknown_choices(values, choices)
    yield from _not_above_zero(values, _ABOVE_ZERO_IN_GAIA)
    yield from _out_of_range(values)


def _empty_texts(values: Mapping[str, Any]) -> Iterator[Problem]:
    for name in _TEXTS:
        if not isinstance(values[name], str) or not values[name]:
            yield name, f"expected a text that is not empty, got {values[name]!r:.200}"


def _unsendable_texts(values: Mapping[str, Any]) -> Iterator[Problem]:
    for name in _SENT:
        try:
            values[name].encode()
        except UnicodeEncodeError:
            yield name, f"expected a text that UTF-8 can carry, got {values[name]!r:.200}"


def _not_above_zero(
    values: Mapping[str, Any], names: tuple[str, ...], when: str = ""
) -> Iterator[Problem]:
    for name in names:
        if not _is_number(values[name]) or values[name] <= 0:
            yield name, f"expected a number above 0{when}, got {values[name]!r:.200}"


def unknown_choices(
    values: Mapping[str, Any], choices: Mapping[str, tuple[str, ...]]
) -> Iterator[Problem]:
    """The settings among `values` that are none of their choices."""
    for name, kinds in choices.items():
        value = values.get(name, kinds[0])
        if value not in kinds:
            hint = ""
            if (name, value) == ("tool_choice", "none"):
                hint = "; to send no tools, set nativeToolCalls: never"
            yield name, f"expected one of {', '.join(kinds)}, got {value!r:.200}{hint}"


def _out_of_range(values: Mapping[str, Any]) -> Iterator[Problem]:
    for name, least in _AT_LEAST.items():
        if not _is_number(values[name]) or values[name] < least:
            yield name, f"expected at least {least}, got {values[name]!r:.200}"
    temperature = values["temperature"]
    if not _is_number(temperature) or not 0.0 <= temperature <= 2.0:
        yield "temperature", f"expected 0.0 to 2.0, got {temperature!r:.200}"
    deadline = values["turn_timeout_s"]
    if deadline is not None and (not _is_number(deadline) or deadline <= 0):
        yield (
            "turn_timeout_s",
            f"expected seconds above 0, or None for no deadline, got {deadline!r:.200}",
        )


def _is_number(value: object) -> bool:
    """Whether it is a finite number; a boolean is none."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)
