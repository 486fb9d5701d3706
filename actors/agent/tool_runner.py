"""The seam between a turn and tools: names and arguments in, JSON values out.

What stands behind it (a registry with policies and approvals, an executor with threads, tools of other
servers) is no business of the turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from actors.model.toolspec import ToolSpec


class ToolRunner(Protocol):
    """Runs tools for a turn. Every method is called on the event loop."""

    @property
    def version(self) -> int:
        """A number that changes whenever `specs()` would give something else."""

    def specs(self) -> Sequence[ToolSpec]:
        """What the model may be told about: the enabled tools, in name order."""

    def parallel_safe(self, names: Sequence[str]) -> bool:
        """Whether calls of these tools (names as the model wrote them) may overlap in time."""

    async def run(self, name: str, args: dict[str, Any]) -> Any:
        """Run one call and give its JSON result.

        A call that is refused, unknown or fails gives `{"status": "error", "error": text}`. What this
        raises is therefore no failure of a tool, and ends the turn with that exception. Cancelling the
        call ends the tool, or lets go of it, at once.
        """
