"""Who is asked before a tool with the policy CONFIRM runs (gaia 5).

An approver is asked with the tool's full name and the checked arguments. Without one a call is refused:
fail closed.
"""

from __future__ import annotations

import contextvars
import inspect
import threading
from collections.abc import Awaitable, Callable
from enum import Enum
from typing import Any, Protocol, cast

from runtime import Reply


class Approval(Enum):
    """The answer of whoever was asked."""

    ALLOW_ONCE = "allow_once"
    ALWAYS_ALLOW = "always"
    DENY = "deny"


class Approver(Protocol):
    """Somebody who can be asked."""

    async def approve(self, tool_name: str, args: Any) -> Approval:
        """Decide about one call. Runs on the loop and may be cancelled."""


class CallbackApprover:
    """Asks a function: `async def` on the loop, a plain one on a thread of its own, so it may block."""

    def __init__(self, ask: Callable[[str, Any], Approval | Awaitable[Approval]]) -> None:
        self._ask = ask

    async def approve(self, tool_name: str, args: Any) -> Approval:
        """What the function says."""
        if inspect.iscoroutinefunction(self._ask):
            answer: Approval = await self._ask(tool_name, args)
            return answer
        return cast("Approval", await on_own_thread(self._ask, tool_name, args))


def on_own_thread(function: Callable[..., Any], *args: Any) -> Reply[Any]:
    """Run a function that may wait for a person on a daemon thread; its result as a reply.

    A person who never answers costs that thread; the process can still exit. The caller's context
    variables follow, so that one who asks the waiting actor is told of the cycle.
    """
    reply: Reply[Any] = Reply()
    context = contextvars.copy_context()

    def run() -> None:
        try:
            reply.settle(context.run(function, *args))
        except BaseException as error:  # noqa: BLE001 - it is the reply's outcome
            reply.settle(error=error)

    threading.Thread(target=run, name="greenroom-approval", daemon=True).start()
    return reply
