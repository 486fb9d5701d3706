"""What becomes of a tool call before it runs: plain values."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from actors.tools.tool import Tool


class Refused(Struct, frozen=True):
    """The call does not run; `error` is what the model is told."""

    error: str


class NeedsApproval(Struct, frozen=True):
    """The call may run if somebody approves of it; its arguments have been checked."""

    tool: Tool
    args: Any


class Ready(Struct, frozen=True):
    """The call may run; its arguments have been checked."""

    tool: Tool
    args: Any


Decision = Refused | NeedsApproval | Ready


def error_result(text: str) -> dict[str, str]:
    """How a failed call looks to the model (gaia 4)."""
    return {"status": "error", "error": text}
