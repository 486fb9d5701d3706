"""A turn's tools: decided, asked about and run by a real executor."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from actors.tools.allow_store import AllowStore
from actors.tools.approval import Approval, Approver, CallbackApprover
from actors.tools.decision import NeedsApproval, Ready
from actors.tools.decorator import tool
from actors.tools.executor import tool_executor
from actors.tools.policy import ToolPolicy
from actors.tools.registry import ToolRegistry
from actors.tools.runner import RegistryRunner
from runtime import ActorSystem
from tests.actors.agent.on_loop import on_loop


@tool(parallel_safe=True)
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


@tool(policy=ToolPolicy.CONFIRM)
def wipe() -> str:
    """Wipe."""
    return "wiped"


@pytest.fixture
def system() -> Iterator[ActorSystem]:
    with ActorSystem() as running:
        yield running


def runner(
    system: ActorSystem, approver: Approver | None = None, store: AllowStore | None = None
) -> RegistryRunner:
    registry = ToolRegistry()
    registry.register(wipe)
    registry.register(add)
    return RegistryRunner(registry, tool_executor(system), approver=approver, store=store)


def test_a_turn_sees_the_enabled_tools_and_their_version(system: ActorSystem) -> None:
    tools = runner(system)
    assert [spec.name for spec in tools.specs()] == ["add", "wipe"]
    assert tools.version == 2


@pytest.mark.parametrize(
    ("names", "safe"),
    [
        (["add"], True),
        (["add", "ADD"], True),
        (["add", "wipe"], False),
        (["add", "nope"], False),
    ],
)
def test_calls_may_overlap_only_when_all_are_known_to_be_safe(
    system: ActorSystem, names: list[str], safe: bool
) -> None:
    assert runner(system).parallel_safe(names) is safe


@pytest.mark.parametrize(
    ("name", "args", "says"),
    [
        ("nope", {}, "not found"),
        ("add", {"a": 1}, "`b`"),
        ("add", {"a": 1, "b": "2"}, "$.b"),
        ("wipe", {}, "nobody can be asked"),
    ],
)
@pytest.mark.parametrize("approver", [None])
@on_loop
async def test_a_refusal_is_an_error_result(
    system: ActorSystem, approver: None, name: str, args: dict[str, Any], says: str
) -> None:
    result = await runner(system, approver).run(name, args)
    assert result["status"] == "error"
    assert says in result["error"]


@on_loop
async def test_a_call_runs_and_gives_its_result(system: ActorSystem) -> None:
    assert await runner(system).run("add", {"a": 1, "b": 2}) == 3


@on_loop
async def test_a_call_runs_once_it_is_approved_and_always_is_kept(
    system: ActorSystem, tmp_path: Path
) -> None:
    asked: list[str] = []

    def always(name: str, args: Any) -> Approval:
        asked.append(name)
        return Approval.ALWAYS_ALLOW

    store = AllowStore(tmp_path / "allowed.json")
    tools = runner(system, CallbackApprover(always), store)
    assert [await tools.run("wipe", {}) for _ in range(2)] == ["wiped", "wiped"]
    assert asked == store.all_allowed() == ["wipe"]


class Watch:
    """Notes what it is told, and may forbid that a tool starts."""

    def __init__(self, error: Exception | None = None) -> None:
        self.told: list[str] = []
        self._error = error

    async def approval_asked(self, call: NeedsApproval) -> None:
        self.told.append(f"asked {call.tool.name}")

    async def tool_starting(self, call: Ready) -> None:
        self.told.append(f"starting {call.tool.name} {call.args}")
        if self._error is not None:
            raise self._error


@on_loop
async def test_a_watch_is_told_before_somebody_is_asked_and_before_the_tool_runs(
    system: ActorSystem,
) -> None:
    watch = Watch()
    tools = runner(system, CallbackApprover(lambda name, args: Approval.ALLOW_ONCE))
    assert await tools.run("add", {"a": 1, "b": 2}, watch) == 3
    assert await tools.run("wipe", {}, watch) == "wiped"
    assert watch.told == ["starting add {'a': 1, 'b': 2}", "asked wipe", "starting wipe {}"]


@on_loop
async def test_a_watch_is_not_told_of_a_start_that_is_refused(system: ActorSystem) -> None:
    watch = Watch()
    tools = runner(system, CallbackApprover(lambda name, args: Approval.DENY))
    for name in ("wipe", "nope"):
        assert (await tools.run(name, {}, watch))["status"] == "error"
    assert watch.told == ["asked wipe"]


@on_loop
async def test_what_a_watch_raises_ends_the_call_before_the_tool_runs(system: ActorSystem) -> None:
    ran: list[int] = []
    registry = ToolRegistry()
    registry.register(tool(name="note")(lambda: ran.append(1)))
    tools = RegistryRunner(registry, tool_executor(system), approver=None, store=None)
    with pytest.raises(OSError, match="full"):
        await tools.run("note", {}, Watch(OSError("full")))
    assert ran == []
