"""Runs in a real store: begun, gone on with, ended, listed, given up, forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from actors.errors import DatabaseError, JournalError, RunNotFound
from actors.journal import (
    Journal,
    ModelReplied,
    Responded,
    Resumed,
    RunFailed,
    ToolFinished,
    ToolStarted,
)
from actors.journal.events import VERSION
from actors.store import STANDARD_TABLES, Store, open_store
from runtime import ActorSystem
from tests.actors.agent.on_loop import on_loop
from tests.actors.journal.kept import request


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with ActorSystem() as system:
        yield open_store(system, tmp_path / "a.db", migrations=STANDARD_TABLES)


@pytest.fixture
def journal(store: Store) -> Journal:
    return Journal(store)


async def begun(journal: Journal, agent: str = "clerk", task: str = "do it") -> int:
    return (await journal.abegin(agent, "main", task, request(task))).number


@on_loop
async def test_a_run_that_has_begun_is_unfinished_until_it_is_ended(journal: Journal) -> None:
    record = await journal.abegin("clerk", "main", "do it", request())
    assert record.live
    info = journal.run(record.number)
    assert (info.agent, info.session, info.task) == ("clerk", "main", "do it")
    assert (info.outcome, info.ended_at, info.events) == (None, None, 1)
    assert journal.runs(unfinished=True) == [info]

    await record.end(Responded("done", 1, 20, "answered"), "answered")
    ended = journal.run(record.number)
    assert (ended.outcome, ended.events) == ("answered", 2)
    assert ended.ended_at is not None
    assert ended.ended_at >= ended.began_at
    assert journal.runs(unfinished=True) == []
    assert journal.runs() == [ended]


@on_loop
async def test_events_are_kept_in_order_beside_those_of_other_runs(journal: Journal) -> None:
    first = await journal.abegin("clerk", "main", "one", request())
    second = await journal.abegin("clerk", "main", "two", request())
    for number in range(3):
        await first.append(ModelReplied(f"first {number}"))
        await second.append(ModelReplied(f"second {number}"))
    for record, name in ((first, "first"), (second, "second")):
        kept = journal.events(record.number)
        assert [each.number for each in kept] == [1, 2, 3, 4]
        texts = [each.event.text for each in kept if isinstance(each.event, ModelReplied)]
        assert texts == [f"{name} 0", f"{name} 1", f"{name} 2"]
        assert kept == sorted(kept, key=lambda each: each.at)


@on_loop
async def test_a_run_that_is_taken_up_again_gives_what_is_known_once(journal: Journal) -> None:
    record = await journal.abegin("clerk", "main", "do it", request())
    await record.append(ModelReplied("calls f"))
    await record.append(ToolStarted(1, "f", {"a": 1}, repeatable=False))
    await record.append(ToolFinished(1, "f", {"a": 1}, "result"))
    await record.append(ModelReplied("calls g"))
    await record.append(ToolStarted(2, "g", {}, repeatable=True))

    again = await journal.areopen(record.number)
    assert not again.live
    assert again.past.request == request()
    assert [getattr(again.next_reply(), "text", None) for _ in range(3)] == [
        "calls f",
        "calls g",
        None,
    ]
    number, call = again.next_call("f", {"a": 1})
    assert (number, call.finished) == (1, ToolFinished(1, "f", {"a": 1}, "result"))
    number, call = again.next_call("g", {})
    assert (number, call.finished) == (2, None)
    assert call.started == ToolStarted(2, "g", {}, repeatable=True)
    number, call = again.next_call("h", {})
    assert (number, call.started, call.finished) == (3, None, None)
    assert isinstance(journal.events(record.number)[-1].event, Resumed)


@pytest.mark.parametrize(("tool", "args"), [("g", {"a": 1}), ("f", {"a": 2}), ("f", {})])
@on_loop
async def test_a_run_that_goes_another_way_than_it_went_is_not_gone_on_with(
    journal: Journal, tool: str, args: dict[str, Any]
) -> None:
    record = await journal.abegin("clerk", "main", "do it", request())
    await record.append(ToolStarted(1, "f", {"a": 1}, repeatable=False))
    again = await journal.areopen(record.number)
    with pytest.raises(JournalError, match=f"run {record.number} goes another way.*'f'"):
        again.next_call(tool, args)


@on_loop
async def test_the_same_call_is_the_same_after_it_was_kept(journal: Journal) -> None:
    args = {"text": "a\ud800", "pair": (1, 2)}
    record = await journal.abegin("clerk", "main", "do it", request())
    await record.append(ToolFinished(1, "f", args, None))
    again = await journal.areopen(record.number)
    assert again.next_call("f", args)[1].finished is not None


@on_loop
async def test_resumes_that_come_to_nothing_are_counted_from_the_last_event_on(
    journal: Journal,
) -> None:
    number = await begun(journal)
    counts = [(await journal.areopen(number)).past.fruitless_resumes for _ in range(4)]
    assert counts == [0, 1, 2, 3]
    record = await journal.areopen(number)
    await record.append(ModelReplied("at last"))
    assert (await journal.areopen(number)).past.fruitless_resumes == 0


@on_loop
async def test_what_else_is_to_be_kept_is_kept_with_the_end_or_not_at_all(
    journal: Journal, store: Store
) -> None:
    store.run("CREATE TABLE other (x INTEGER) STRICT")
    record = await journal.abegin("clerk", "main", "do it", request())
    end = Responded("done", 1, 20, "answered")
    with pytest.raises(JournalError, match=r"could not be kept.*no such table"):
        await record.end(
            end, "answered", also=lambda rows: rows.run("INSERT INTO nowhere VALUES (1)")
        )
    assert journal.run(record.number).outcome is None
    await record.end(end, "answered", also=lambda rows: rows.run("INSERT INTO other VALUES (1)"))
    assert journal.run(record.number).outcome == "answered"
    assert [tuple(row) for row in store.query("SELECT x FROM other")] == [(1,)]


@on_loop
async def test_a_run_ends_once(journal: Journal) -> None:
    record = await journal.abegin("clerk", "main", "do it", request())
    await record.end(RunFailed("boom"), "failed")
    with pytest.raises(JournalError, match="it has ended"):
        await record.end(Responded("done", 1, 20, "answered"), "answered")
    with pytest.raises(RunNotFound, match=r"cannot be resumed: it has ended \(failed\)"):
        await journal.areopen(record.number)
    with pytest.raises(RunNotFound, match="it has ended"):
        journal.abandon(record.number, "given up by hand")
    assert [type(each.event) for each in journal.events(record.number)][1:] == [RunFailed]


@on_loop
async def test_unfinished_runs_are_of_one_agent_and_the_oldest_first(journal: Journal) -> None:
    numbers = [await begun(journal, agent) for agent in ("clerk", "cook", "clerk")]
    assert [run.id for run in await journal.aunfinished("clerk")] == [numbers[0], numbers[2]]
    assert [run.id for run in journal.runs("clerk")] == [numbers[2], numbers[0]]
    assert [run.id for run in journal.runs(limit=2)] == [numbers[2], numbers[1]]
    await journal.aabandon(numbers[0], "the policy is fail")
    assert [run.id for run in await journal.aunfinished("clerk")] == [numbers[2]]
    assert journal.run(numbers[0]).outcome == "abandoned"
    assert journal.events(numbers[0])[-1].event == RunFailed("the policy is fail")


def test_a_run_that_is_not_there_is_named(journal: Journal) -> None:
    for work in (journal.run, journal.events, lambda number: journal.abandon(number, "why")):
        with pytest.raises(RunNotFound, match="run 77"):
            work(77)


@on_loop
async def test_old_runs_are_forgotten_with_their_events_and_unfinished_ones_stay(
    journal: Journal, store: Store
) -> None:
    ended, unfinished = await begun(journal), await begun(journal)
    journal.abandon(ended, "given up by hand")
    now = datetime.now(UTC)
    assert journal.forget(ended_before=now - timedelta(hours=1)) == 0
    assert journal.forget(ended_before=now + timedelta(hours=1)) == 1
    assert [run.id for run in journal.runs()] == [unfinished]
    assert [row[0] for row in store.query("SELECT DISTINCT run FROM run_events")] == [unfinished]


@on_loop
async def test_the_number_of_a_forgotten_run_is_not_given_again(journal: Journal) -> None:
    number = await begun(journal)
    journal.abandon(number, "given up by hand")
    journal.forget(ended_before=datetime.now(UTC) + timedelta(hours=1))
    assert await begun(journal) > number


@on_loop
async def test_a_run_of_a_newer_greenroom_is_listed_and_neither_shown_nor_resumed(
    journal: Journal, store: Store
) -> None:
    number = await begun(journal)
    store.run("UPDATE runs SET version = ? WHERE id = ?", VERSION + 1, number)
    assert [run.version for run in journal.runs(unfinished=True)] == [VERSION + 1]
    with pytest.raises(JournalError, match=f"newer greenroom .journal version {VERSION + 1}"):
        journal.events(number)
    with pytest.raises(JournalError, match="newer greenroom"):
        await journal.areopen(number)
    assert journal.run(number).events == 1


@on_loop
async def test_an_event_that_cannot_be_kept_stops_the_run_and_leaves_it_unfinished(
    journal: Journal, store: Store
) -> None:
    record = await journal.abegin("clerk", "main", "do it", request())
    store.run(
        "CREATE TRIGGER full BEFORE INSERT ON run_events BEGIN SELECT raise(ABORT, 'no room'); END"
    )
    with pytest.raises(
        JournalError, match=f"run {record.number} could not be kept.*no room"
    ) as caught:
        await record.append(ModelReplied("hi"))
    assert isinstance(caught.value.__cause__, DatabaseError)
    assert journal.run(record.number).outcome is None


@on_loop
async def test_a_store_that_has_ended_is_an_event_that_could_not_be_kept(
    journal: Journal, store: Store
) -> None:
    record = await journal.abegin("clerk", "main", "do it", request())
    await store.supervisor.astop()
    with pytest.raises(JournalError, match="could not be kept"):
        await record.append(ModelReplied("hi"))
