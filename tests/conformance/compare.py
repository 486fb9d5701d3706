"""How a result is compared with what a case expects: floats within 1e-6, key order of no account."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

TOLERANCE = 1e-6


@runtime_checkable
class Observation(Protocol):
    """A result that knows how it is compared, because a case does not write it out whole."""

    def differences(self, expected: dict[str, Any]) -> list[str]:
        """Every place where it is not as expected."""


def differences(expected: Any, got: Any, path: str = "$") -> list[str]:
    """Every place where `got` is not what is expected; empty if there is none.

    Keys that `expected` does not name are not looked at in the outermost object only.
    """
    if isinstance(expected, dict) and isinstance(got, dict):
        names = expected.keys() if path == "$" else expected.keys() | got.keys()
        return [
            difference
            for name in names
            for difference in _entry(expected, got, name, f"{path}.{name}")
        ]
    if isinstance(expected, list) and isinstance(got, list):
        if len(expected) != len(got):
            return [f"{path}: expected {len(expected)} items {expected!r}, got {len(got)}: {got!r}"]
        pairs = enumerate(zip(expected, got, strict=True))
        return [
            d for index, (one, other) in pairs for d in differences(one, other, f"{path}[{index}]")
        ]
    if _same(expected, got):
        return []
    return [f"{path}: expected {expected!r}, got {got!r}"]


def _entry(expected: dict[str, Any], got: dict[str, Any], name: str, path: str) -> list[str]:
    if name not in got:
        return [f"{path}: expected {expected[name]!r}, got nothing"]
    if name not in expected:
        return [f"{path}: expected nothing, got {got[name]!r}"]
    return differences(expected[name], got[name], path)


def _same(expected: Any, got: Any) -> bool:
    if isinstance(expected, bool) or isinstance(got, bool):
        return expected is got
    if isinstance(expected, int | float) and isinstance(got, int | float):
        return abs(expected - got) <= TOLERANCE
    return type(expected) is type(got) and bool(expected == got)


def error_differences(
    expected: dict[str, Any], kinds: tuple[type[Exception], ...], error: Exception
) -> list[str]:
    """Whether an error is of the kind a case asks for and says every fragment of it, in any case."""
    problems: list[str] = []
    if not isinstance(error, kinds):
        problems.append(f"expected an error of kind {expected['kind']}, got {error!r}")
    text = str(error).lower()
    problems += [
        f"the error says {str(error)!r}, not {fragment!r}"
        for fragment in expected.get("contains", [])
        if fragment.lower() not in text
    ]
    return problems
