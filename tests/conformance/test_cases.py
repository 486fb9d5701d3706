"""Runs every conformance case through the adapter of its area."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.conformance.areas import AREAS
from tests.conformance.compare import Observation, differences, error_differences
from tests.conformance.error_kinds import KINDS


def test_case(area: str, case: dict[str, Any], tmp_path: Path) -> None:
    """The result, or the error, is what the case expects."""
    expected = case["expect"]
    wanted = expected.get("error") if isinstance(expected, dict) else None
    try:
        got = AREAS[area](case["input"], tmp_path)
    except Exception as error:
        if not isinstance(wanted, dict):
            raise
        problems = error_differences(wanted, KINDS[wanted["kind"]], error)
    else:
        problems = (
            got.differences(expected)
            if isinstance(got, Observation)
            else differences(expected, got)
        )
    assert not problems, f"{case['note']}\n" + "\n".join(problems)
