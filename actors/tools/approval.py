"""Who is asked before a tool with the policy CONFIRM runs (gaia 5).

An approver is asked with the tool's full name and the checked arguments. Without one a call is refused:
fail closed.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from enum import Enum
from typing import Any, Protocol

SHOWN_ARGUMENTS = 2000
"""Most characters of the arguments that the terminal shows."""


class Approval(Enum):
    """The answer of whoever was asked."""

    ALLOW_ONCE = "allow_once"
    ALWAYS_ALLOW = "always"
    DENY = "deny"


class Approver(Protocol):
    """Somebody who can be asked."""

    async def approve(self, tool: str, args: Any) -> Approval:
        """Decide about one call. Runs on the loop and may be cancelled."""


class CallbackApprover:
    """Asks a function: `async def` on the loop, a plain one on a thread of its own, so it may block."""

    def __init__(self, ask: Callable[[str, Any], Approval | Awaitable[Approval]]) -> None:
        self._ask = ask

    async def approve(self, tool: str, args: Any) -> Approval:
        """What the function says."""
        if inspect.iscoroutinefunction(self._ask):
            answer: Approval = await self._ask(tool, args)
            return answer
        return await asyncio.to_thread(self._ask, tool, args)  # type: ignore[arg-type]  # a plain function


class FixedApprover:
    """Always says the same; `FixedApprover(Approval.ALLOW_ONCE)` is the command line's `--yes`."""

    def __init__(self, approval: Approval) -> None:
        self._approval = approval

    async def approve(self, tool: str, args: Any) -> Approval:  # noqa: ARG002 - the seam's signature
        """The same as ever."""
        return self._approval
