"""Approvers of the command: one that always says yes, one that clears the line before it asks."""

from __future__ import annotations

from typing import Any

from actors.output.handler import OutputHandler
from actors.tools.approval import Approval, Approver


class AlwaysApprove:
    """Allows every call once; the always-allowed store is not touched."""

    async def approve(self, tool_name: str, args: Any) -> Approval:  # noqa: ARG002
        """ALLOW_ONCE."""
        return Approval.ALLOW_ONCE


class PausesProgress:
    """Asks `inner` after ending the progress of `handler`, which would write over the question."""

    def __init__(self, inner: Approver, handler: OutputHandler) -> None:
        self._inner = inner
        self._handler = handler

    async def approve(self, tool_name: str, args: Any) -> Approval:
        """What `inner` says."""
        self._handler.stop_progress()
        return await self._inner.approve(tool_name, args)
