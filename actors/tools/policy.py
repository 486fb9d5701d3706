"""What a tool may do without being asked about: ALLOW < CONFIRM < DENY (gaia 5)."""

from __future__ import annotations

from enum import IntEnum


class ToolPolicy(IntEnum):
    """The stricter policy is the larger one.

    * `ALLOW`: runs.
    * `CONFIRM`: runs after an approval; refused where nobody can be asked.
    * `DENY`: never runs, whatever was allowed before.
    """

    ALLOW = 0
    CONFIRM = 1
    DENY = 2


def stricter(first: ToolPolicy, second: ToolPolicy) -> ToolPolicy:
    """The stricter of two policies."""
    return max(first, second)
