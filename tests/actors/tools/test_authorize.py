"""From a decision to a call that may run: the store, the approver, and neither."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from actors.model.toolspec import ToolParameter, ToolSpec
from actors.tools.allow_store import AllowStore
from actors.tools.approval import Approval, Approver, CallbackApprover
from actors.tools.authorize import authorize
from actors.tools.decision import Ready, Refused
from actors.tools.policy import ToolPolicy
from actors.tools.registry import ToolRegistry
from actors.tools.tool import Tool
from runtime import Actor, ActorSystem
from tests.actors.agent.on_loop import on_loop


def guarded(policy: ToolPolicy = ToolPolicy.CONFIRM) -> ToolRegistry:
    registry = ToolRegistry()
    spec = ToolSpec("mcp_srv_guarded", "", (ToolParameter("q", "integer"),))
    registry.register(Tool(spec, lambda args: args, policy))
    return registry


class Boss:
    """Answers every question in the same way, and remembers them."""

    def __init__(self, answer: Any) -> None:
        self.asked: list[tuple[str, Any]] = []
        self._answer = answer

    async def approve(self, tool_name: str, args: Any) -> Approval:
        self.asked.append((tool_name, args))
        if isinstance(self._answer, BaseException):
            raise self._answer
        answer: Approval = self._answer
        return answer


async def decided(
    approver: Approver | None,
    store: AllowStore | None = None,
    *,
    registry: ToolRegistry | None = None,
    args: Any = None,
) -> Ready | Refused:
    called = {"q": 1} if args is None else args
    return await authorize(
        guarded() if registry is None else registry,
        "guarded",
        called,
        approver=approver,
        store=store,
    )


@on_loop
async def test_an_approver_is_asked_by_full_name_with_the_checked_arguments() -> None:
    boss = Boss(Approval.ALLOW_ONCE)
    assert isinstance(await decided(boss), Ready)
    assert boss.asked == [("mcp_srv_guarded", {"q": 1})]


@on_loop
async def test_nobody_is_asked_about_what_cannot_run_anyway() -> None:
    boss = Boss(Approval.ALWAYS_ALLOW)
    assert isinstance(await decided(boss, args={"q": "x"}), Refused)
    assert isinstance(await decided(boss, registry=guarded(ToolPolicy.DENY)), Refused)
    assert isinstance(await decided(boss, registry=ToolRegistry()), Refused)
    assert boss.asked == []


@on_loop
async def test_nobody_is_asked_about_what_is_allowed() -> None:
    assert isinstance(await decided(None, registry=guarded(ToolPolicy.ALLOW)), Ready)


@on_loop
async def test_a_call_is_refused_where_nobody_can_be_asked() -> None:
    refused = await decided(None)
    assert isinstance(refused, Refused)
    assert "needs confirmation" in refused.error


@on_loop
async def test_always_is_remembered_by_full_name_and_asked_once(tmp_path: Path) -> None:
    store = AllowStore(tmp_path / "allowed.json")
    boss = Boss(Approval.ALWAYS_ALLOW)
    assert isinstance(await decided(boss, store), Ready)
    assert isinstance(await decided(boss, store), Ready)
    assert len(boss.asked) == 1
    assert AllowStore(tmp_path / "allowed.json").all_allowed() == ["mcp_srv_guarded"]
    assert isinstance(await decided(None, store), Ready)


@on_loop
async def test_always_without_a_store_runs_and_is_asked_again() -> None:
    boss = Boss(Approval.ALWAYS_ALLOW)
    assert isinstance(await decided(boss), Ready)
    assert isinstance(await decided(boss), Ready)
    assert len(boss.asked) == 2


@on_loop
async def test_the_store_cannot_lift_a_denial_nor_stand_for_a_short_name(tmp_path: Path) -> None:
    store = AllowStore(tmp_path / "allowed.json")
    store.add("guarded")
    assert isinstance(await decided(None, store), Refused)
    store.add("mcp_srv_guarded")
    assert isinstance(await decided(None, store, registry=guarded(ToolPolicy.DENY)), Refused)


@pytest.mark.parametrize(
    "answer",
    [Approval.DENY, None, True, "allow_once", 1, OSError("gone"), SystemExit(1), TimeoutError()],
)
@on_loop
async def test_only_a_clear_yes_is_a_yes(answer: Any, tmp_path: Path) -> None:
    store = AllowStore(tmp_path / "allowed.json")
    refused = await decided(Boss(answer), store)
    assert isinstance(refused, Refused)
    assert "'mcp_srv_guarded' was denied" in refused.error
    assert store.all_allowed() == []


@on_loop
async def test_a_callback_that_ends_the_process_only_denies() -> None:
    refused = await decided(CallbackApprover(lambda name, args: sys.exit(f"{name} {args}")))
    assert isinstance(refused, Refused)


@on_loop
async def test_a_cancelled_question_is_cancelled() -> None:
    class Silent:
        async def approve(self, tool_name: str, args: Any) -> Approval:
            await asyncio.Event().wait()
            raise AssertionError("nobody sets it")

    asking = asyncio.create_task(decided(Silent()))
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


class Worried(Actor):
    """Asks itself, from the thread of a callback, whether it may."""

    async def on_receive(self, message: Any) -> Any:
        approver = CallbackApprover(lambda name, args: self.actor_ref.ask("may I?"))
        return await authorize(guarded(), "guarded", {"q": 1}, approver=approver, store=None)


def test_an_approver_that_asks_the_waiting_actor_denies_and_does_not_hang() -> None:
    with ActorSystem() as system:
        answer = system.spawn(Worried).ask("go", timeout=10)
    assert isinstance(answer, Refused)
