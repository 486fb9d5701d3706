"""`Outcomes`: what a list of operations gave, where errors stand in the place of results."""

from __future__ import annotations

from typing import Any

from actors.errors import AgentError
from tests.conformance.compare import differences, error_differences
from tests.conformance.error_kinds import KINDS


class Outcomes:
    """What every operation gave; an error stands where it came."""

    def __init__(self, got: dict[str, Any]) -> None:
        self._got = got

    def differences(self, expected: dict[str, Any]) -> list[str]:
        """As `compare.differences`, with each error against the one that is expected in its place."""
        return differences(expected, _with_errors_judged(expected, self._got))


def _with_errors_judged(expected: Any, got: Any) -> Any:
    """`got`, where an error that is as expected has become the expectation, and another one its text."""
    if isinstance(got, AgentError):
        wanted = expected.get("error") if isinstance(expected, dict) else None
        if wanted and not error_differences(wanted, KINDS[wanted["kind"]], got):
            return expected
        return f"{type(got).__name__}: {got}"
    if isinstance(got, dict) and isinstance(expected, dict):
        return {key: _with_errors_judged(expected.get(key), value) for key, value in got.items()}
    if isinstance(got, list) and isinstance(expected, list):
        rest = [None] * (len(got) - len(expected))
        return [_with_errors_judged(*pair) for pair in zip(expected + rest, got, strict=False)]
    return got
