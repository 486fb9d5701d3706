"""From a model's call to one that may run: decide, look into the store, ask (gaia 4, CONFIRM)."""

from __future__ import annotations

from typing import Any

from actors.tools.allow_store import AllowStore
from actors.tools.approval import Approval, Approver, on_own_thread
from actors.tools.call_watch import CallWatch
from actors.tools.decision import NeedsApproval, Ready, Refused
from actors.tools.registry import ToolRegistry
from runtime.events import log


async def authorize(
    registry: ToolRegistry,
    name: str,
    args: Any,
    *,
    approver: Approver | None,
    store: AllowStore | None,
    watch: CallWatch | None = None,
) -> Ready | Refused:
    """The call, ready to run or refused. Never raises for a reason of the tool or of who was asked.

    `watch` is told before somebody is asked.
    """
    decision = registry.decide(name, args)
    if not isinstance(decision, NeedsApproval):
        return decision
    full_name = decision.tool.name
    if store is not None and store.is_always_allowed(full_name):
        return Ready(decision.tool, decision.args)
    if approver is None:
        return Refused(f"tool {full_name!r} needs confirmation, and nobody can be asked")
    if watch is not None:
        await watch.approval_asked(decision)
    answer = await _ask(approver, decision)
    if answer is Approval.DENY:
        return Refused(f"tool {full_name!r} was denied by the user; confirmation was not given")
    if answer is Approval.ALWAYS_ALLOW and store is not None:
        await on_own_thread(store.add, full_name)  # it writes a file
    return Ready(decision.tool, decision.args)


async def _ask(approver: Approver, decision: NeedsApproval) -> Approval:
    """The answer; DENY where none came, or one that is no `Approval`: only a clear yes is a yes."""
    name = decision.tool.name
    try:
        answer: Any = await approver.approve(name, decision.args)
    except (Exception, SystemExit):  # noqa: BLE001 - whoever was asked failed to answer: that is no yes
        log.exception("approver_failed", tool=name)
        return Approval.DENY
    if not isinstance(answer, Approval):
        log.error("approver_gave_no_approval", tool=name, answer=repr(answer))
        return Approval.DENY
    return answer
