"""The seam for who must know of a tool call before it is made: a journal."""

from __future__ import annotations

from typing import Protocol

from actors.tools.decision import NeedsApproval, Ready


class CallWatch(Protocol):
    """Is told of the steps of one call. What it raises ends the call, and passes to who made it."""

    async def approval_asked(self, call: NeedsApproval) -> None:
        """Somebody is about to be asked whether it may run."""

    async def tool_starting(self, call: Ready) -> None:
        """It is about to run."""
