"""A model and tools with a record before them: what is known is given, what is not is done and kept."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from actors.errors import JournalError, LocalModelError, ModelUnavailable, ToolCallError
from actors.journal import (
    ApprovalAsked,
    Journal,
    ModelFailed,
    ModelReplied,
    RunEvent,
    ToolFinished,
    ToolStarted,
)
from actors.journal.recorded_model import RecordedModel
from actors.journal.recorded_tools import OUTCOME_UNKNOWN, RecordedTools
from actors.journal.run_record import RunRecord
from actors.model.provider import ModelReply, ModelRequest, TokenSink
from actors.store import STANDARD_TABLES, Store, open_store
from actors.tools.approval import Approval, CallbackApprover
from actors.tools.decorator import tool
from actors.tools.executor import tool_executor
from actors.tools.policy import ToolPolicy
from actors.tools.registry import ToolRegistry
from actors.tools.runner import RegistryRunner
from actors.tools.tool import Tool
from runtime import ActorSystem
from tests.actors.agent.on_loop import on_loop
from tests.actors.journal.kept import request

ASKED = ModelRequest("m", (), 100, 0.0)
LIMIT_S = 30.0


class Model:
    """Says, or raises, one thing after the other, and counts how often it was asked."""

    name = "said"
    local = True

    def __init__(self, *said: ModelReply | Exception) -> None:
        self.asked = 0
        self._said = said

    async def generate(self, _: ModelRequest) -> ModelReply:
        self.asked += 1
        said = self._said[self.asked - 1]
        if isinstance(said, Exception):
            raise said
        return said

    async def stream(self, asked: ModelRequest, on_token: TokenSink) -> ModelReply:
        reply = await self.generate(asked)
        on_token(reply.text or "")
        return reply

    async def available(self) -> bool:
        return True

    async def prepare(self, model: str, context_size: int) -> None:
        raise NotImplementedError


@pytest.fixture
def system() -> Iterator[ActorSystem]:
    with ActorSystem() as running:
        yield running


@pytest.fixture
def store(system: ActorSystem, tmp_path: Path) -> Store:
    return open_store(system, tmp_path / "a.db", migrations=STANDARD_TABLES)


async def record_of(store: Store, *events: RunEvent) -> RunRecord:
    """A run in which this has happened, and that is taken up again."""
    record = await Journal(store).abegin("clerk", "main", "do it", request())
    for event in events:
        await record.append(event)
    return await Journal(store).areopen(record.number)


def kept(store: Store, record: RunRecord) -> list[RunEvent]:
    return [each.event for each in Journal(store).events(record.number)]


# -- the model -------------------------------------------------------------------------------------


@on_loop
async def test_a_reply_that_is_known_is_given_and_the_next_is_asked_for_and_kept(
    store: Store,
) -> None:
    model = Model(ModelReply("new", tool_calls=[{"id": "1"}]))
    record = await record_of(store, ModelReplied("known", complete=False))
    recorded = RecordedModel(model, record)
    assert await recorded.generate(ASKED) == ModelReply("known", [], complete=False)
    assert (model.asked, record.live) == (0, False)
    assert await recorded.generate(ASKED) == ModelReply("new", [{"id": "1"}])
    assert (model.asked, record.live) == (1, True)
    assert kept(store, record)[-1] == ModelReplied("new", [{"id": "1"}])


@on_loop
async def test_tokens_come_with_a_new_reply_only(store: Store) -> None:
    tokens: list[str] = []
    recorded = RecordedModel(
        Model(ModelReply("new")), await record_of(store, ModelReplied("known"))
    )
    assert (await recorded.stream(ASKED, tokens.append)).text == "known"
    assert (await recorded.stream(ASKED, tokens.append)).text == "new"
    assert tokens == ["new"]


@pytest.mark.parametrize(
    ("error", "final"), [(ModelUnavailable("gone"), False), (LocalModelError("no file"), True)]
)
@on_loop
async def test_a_failure_of_the_model_is_kept_and_is_one_again(
    store: Store, error: Exception, *, final: bool
) -> None:
    record = await record_of(store)
    with pytest.raises(type(error)):
        await RecordedModel(Model(error), record).generate(ASKED)
    assert kept(store, record)[-1] == ModelFailed(str(error), final=final)
    again = await Journal(store).areopen(record.number)
    with pytest.raises(ToolCallError) as caught:
        await RecordedModel(Model(), again).generate(ASKED)
    assert (str(caught.value), caught.value.final) == (str(error), final)


@on_loop
async def test_a_reply_that_cannot_be_kept_is_not_given(store: Store) -> None:
    record = await record_of(store)
    store.run("DROP TABLE run_events")
    with pytest.raises(JournalError):
        await RecordedModel(Model(ModelReply("new")), record).generate(ASKED)


# -- the tools -------------------------------------------------------------------------------------


class Bench:
    """Tools that note their calls, in a real runner."""

    def __init__(self, system: ActorSystem, answer: Approval = Approval.ALLOW_ONCE) -> None:
        self.ran: list[str] = []
        self.asked: list[str] = []

        @tool(idempotent=True)
        def look() -> str:
            """Look."""
            return self._ran("look")

        @tool
        def write(text: str) -> str:
            """Write."""
            return self._ran(f"write {text}")

        @tool(policy=ToolPolicy.CONFIRM)
        def wipe() -> str:
            """Wipe."""
            return self._ran("wipe")

        def approve(name: str, args: Any) -> Approval:
            self.asked.append(name)
            return answer

        registry = ToolRegistry()
        made: tuple[Tool, ...] = (look, write, wipe)
        for each in made:
            registry.register(each)
        approver = CallbackApprover(approve)
        self.runner = RegistryRunner(registry, tool_executor(system), approver=approver, store=None)

    def _ran(self, what: str) -> str:
        self.ran.append(what)
        return f"{what}: done"


@on_loop
async def test_a_call_is_kept_before_it_runs_and_when_it_has_ended(
    system: ActorSystem, store: Store
) -> None:
    bench = Bench(system)
    record = await record_of(store)
    tools = RecordedTools(bench.runner, record)
    assert await tools.run("write", {"text": "a"}) == "write a: done"
    assert kept(store, record)[-2:] == [
        ToolStarted(1, "write", {"text": "a"}, repeatable=False),
        ToolFinished(1, "write", {"text": "a"}, "write a: done"),
    ]
    assert [spec.name for spec in tools.specs()] == ["look", "wipe", "write"]
    assert (tools.version, tools.parallel_safe(["write"])) == (bench.runner.version, False)


@on_loop
async def test_a_call_that_has_ended_is_not_run_again(system: ActorSystem, store: Store) -> None:
    bench = Bench(system)
    record = await record_of(store, ToolFinished(1, "write", {"text": "a"}, "as it was"))
    assert await RecordedTools(bench.runner, record).run("write", {"text": "a"}) == "as it was"
    assert (bench.ran, record.live) == ([], False)


@on_loop
async def test_a_call_that_may_have_run_is_not_repeated_and_the_model_is_told(
    system: ActorSystem, store: Store
) -> None:
    bench = Bench(system)
    record = await record_of(store, ToolStarted(1, "write", {"text": "a"}, repeatable=False))
    result = await RecordedTools(bench.runner, record).run("write", {"text": "a"})
    assert result == {"status": "error", "error": OUTCOME_UNKNOWN}
    assert bench.ran == []
    assert kept(store, record)[-1] == ToolFinished(1, "write", {"text": "a"}, result)


@on_loop
async def test_a_call_that_does_no_harm_twice_runs_again(system: ActorSystem, store: Store) -> None:
    bench = Bench(system)
    record = await record_of(store, ToolStarted(1, "look", {}, repeatable=True))
    assert await RecordedTools(bench.runner, record).run("look", {}) == "look: done"
    assert bench.ran == ["look"]


@on_loop
async def test_who_was_asked_when_it_ended_is_asked_again(
    system: ActorSystem, store: Store
) -> None:
    bench = Bench(system)
    record = await record_of(store, ApprovalAsked(1, "wipe", {}))
    assert await RecordedTools(bench.runner, record).run("wipe", {}) == "wipe: done"
    assert bench.asked == bench.ran == ["wipe"]
    assert [type(event) for event in kept(store, record)[-3:]] == [
        ApprovalAsked,
        ToolStarted,
        ToolFinished,
    ]


@on_loop
async def test_a_call_that_was_denied_never_started(system: ActorSystem, store: Store) -> None:
    bench = Bench(system, Approval.DENY)
    record = await record_of(store)
    result = await RecordedTools(bench.runner, record).run("wipe", {})
    assert "denied" in result["error"]
    assert [type(event) for event in kept(store, record)[-2:]] == [ApprovalAsked, ToolFinished]


@on_loop
async def test_a_tool_whose_start_cannot_be_kept_does_not_run(
    system: ActorSystem, store: Store
) -> None:
    bench = Bench(system)
    record = await record_of(store)
    store.run("DROP TABLE run_events")
    with pytest.raises(JournalError):
        await RecordedTools(bench.runner, record).run("write", {"text": "a"})
    assert bench.ran == []


@on_loop
async def test_calls_that_overlap_are_numbered_as_they_were_made(
    system: ActorSystem, store: Store
) -> None:
    bench = Bench(system)
    record = await record_of(store, ToolFinished(2, "write", {"text": "b"}, "as it was"))
    tools = RecordedTools(bench.runner, record)
    calls = [tools.run("write", {"text": text}) for text in "abc"]
    results = await asyncio.wait_for(asyncio.gather(*calls), LIMIT_S)
    assert results == ["write a: done", "as it was", "write c: done"]
    assert sorted(bench.ran) == ["write a", "write c"]
