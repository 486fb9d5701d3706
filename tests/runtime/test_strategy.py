"""Supervision decisions as tables: restart x reason, strategy x children, intensity and back-off."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime import Backoff, MisuseError
from runtime.exits import Exit, stronger
from runtime.strategy import RestartIntensity, affected, check_strategy, restarts

ERROR = ValueError("x")


@pytest.mark.parametrize(
    ("kind", "reason", "expected"),
    [
        ("permanent", "normal", True),
        ("permanent", "shutdown", True),
        ("permanent", ERROR, True),
        ("transient", "normal", False),
        ("transient", "shutdown", False),
        ("transient", ERROR, True),
        ("temporary", "normal", False),
        ("temporary", "shutdown", False),
        ("temporary", ERROR, False),
    ],
)
def test_restart_by_kind_and_reason(kind: Any, reason: Any, expected: bool) -> None:
    assert restarts(kind, reason) is expected


@pytest.mark.parametrize(
    ("strategy", "failed", "expected"),
    [
        ("one_for_one", "b", "b"),
        ("one_for_all", "b", "abc"),
        ("rest_for_one", "a", "abc"),
        ("rest_for_one", "b", "bc"),
        ("rest_for_one", "c", "c"),
    ],
)
def test_who_is_restarted_by_strategy(strategy: Any, failed: str, expected: str) -> None:
    assert affected(strategy, ["a", "b", "c"], failed) == list(expected)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        (("all_for_nothing", 3, 5.0), "strategy"),
        (("one_for_one", -1, 5.0), "max_restarts"),
        (("one_for_one", 3, 0.0), "window"),
        (("one_for_one", 3, float("nan")), "window"),
    ],
)
def test_settings_that_cannot_be_are_named(settings: Any, named: str) -> None:
    with pytest.raises(MisuseError, match=named):
        check_strategy(*settings)


def test_intensity_counts_in_a_sliding_window() -> None:
    intensity = RestartIntensity(2, 5.0)
    assert [intensity.allows(now) for now in (0.0, 1.0, 2.0)] == [True, True, False]
    intensity = RestartIntensity(2, 5.0)
    spread = [intensity.allows(now) for now in (0.0, 4.0, 6.0, 10.0, 12.0, 13.0)]
    assert spread == [True, True, True, True, True, False]


def test_an_intensity_of_none_allows_none() -> None:
    assert not RestartIntensity(0, 5.0).allows(0.0)


@given(st.lists(st.floats(0, 1000), min_size=1, max_size=50), st.integers(0, 5))
def test_intensity_agrees_with_counting(times: list[float], most: int) -> None:
    intensity = RestartIntensity(most, 10.0)
    ordered = sorted(times)
    for index, now in enumerate(ordered):
        inside = sum(now - 10.0 <= earlier for earlier in ordered[: index + 1])
        assert intensity.allows(now) is (inside <= most)


def test_backoff_grows_by_its_factor_up_to_its_maximum() -> None:
    backoff = Backoff(initial=1.0, maximum=10.0, factor=2.0, jitter=0.0)
    assert [backoff.delay(n) for n in range(6)] == [1.0, 2.0, 4.0, 8.0, 10.0, 10.0]


def test_backoff_never_overflows() -> None:
    assert Backoff(initial=1.0, maximum=7.0, factor=1e300, jitter=0.0).delay(10**9) == 7.0


@given(st.integers(0, 2000), st.floats(0, 1), st.floats(0, 1))
def test_jitter_only_shortens(attempt: int, jitter: float, chance: float) -> None:
    backoff = Backoff(initial=0.5, maximum=30.0, jitter=jitter)
    full = Backoff(initial=0.5, maximum=30.0, jitter=0.0).delay(attempt)
    assert full * (1 - jitter) - 1e-9 <= backoff.delay(attempt, chance) <= full


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("initial", 0.0),
        ("maximum", 0.01),
        ("factor", 0.5),
        ("jitter", 1.5),
        ("reset_after", 0.0),
    ],
)
def test_a_backoff_that_cannot_be_is_named(field: str, value: float) -> None:
    with pytest.raises(MisuseError, match=field if field != "maximum" else "initial"):
        Backoff(**{field: value}).check()


# -- which of two requests to end counts -----------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "verdict", "reason", "after"),
    [
        (("normal", "ask", 3), (ERROR, "ask", -1), "ask", ERROR, -1),
        ((ERROR, "ask", -1), ("normal", "ask", 3), "ask", ERROR, -1),
        ((ERROR, "ask", -1), ("shutdown", "final", 5), "final", ERROR, -1),
        (("shutdown", "final", 5), (ERROR, "ask", -1), "final", ERROR, -1),
        (("shutdown", "final", 5), ("shutdown", "final", -1), "final", "shutdown", -1),
        (("normal", "ask", 3), ("shutdown", "hold", -1), "hold", "shutdown", -1),
        (("shutdown", "hold", -1), ("shutdown", "final", 2), "final", "shutdown", -1),
        (("shutdown", "final", 2), ("shutdown", "hold", -1), "final", "shutdown", -1),
    ],
)
def test_the_stronger_of_two_requests(
    first: Any, second: Any, verdict: str, reason: Any, after: int
) -> None:
    chosen = stronger(Exit(*first), Exit(*second))
    assert (chosen.verdict, chosen.reason, chosen.after) == (verdict, reason, after)
