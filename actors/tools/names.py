"""Which registered tool is meant by a name that is not registered exactly (gaia 4)."""

from __future__ import annotations

from collections.abc import Iterable


def resolve_name(wanted: str, registered: Iterable[str]) -> str | None:
    """The one registered name that ends with `_` and the wanted one, else the one that equals it; any case.

    None when no name, or more than one, fits. For names that are registered exactly nobody asks.
    """
    names = list(registered)
    lowered = wanted.lower()
    suffixed = [name for name in names if name.lower().endswith(f"_{lowered}")]
    if len(suffixed) == 1:
        return suffixed[0]
    equal = [name for name in names if name.lower() == lowered]
    return equal[0] if len(equal) == 1 else None
