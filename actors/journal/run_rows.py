"""Runs and their events as rows of the tables `runs` and `run_events`: work for a store, a function a piece."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any

from msgspec import Struct

from actors.errors import JournalError, RunNotFound
from actors.journal.events import (
    VERSION,
    Requested,
    Resumed,
    RunEvent,
    RunOutcome,
    event_from_json,
    event_to_json,
    kind_of,
)
from actors.model.wire_json import encodable_text
from actors.store_seam import Rows, time_of


class RunInfo(Struct, frozen=True):
    """A run in a list. `outcome` is None while it is unfinished. `task` is what was asked, in one line."""

    id: int
    agent: str
    session: str
    task: str
    began_at: datetime
    ended_at: datetime | None
    outcome: RunOutcome | None
    events: int
    version: int


class KeptEvent(Struct, frozen=True):
    """An event as it is kept: its number within the run, from 1, and when it was written (UTC)."""

    number: int
    at: datetime
    event: RunEvent


_APPEND = """
INSERT INTO run_events (run, number, at, kind, body)
SELECT ?, 1 + coalesce(max(number), 0), ?, ?, ? FROM run_events WHERE run = ?
"""

_INFO = """
SELECT id, agent, session, task, began_at, ended_at, outcome,
    (SELECT coalesce(max(number), 0) FROM run_events WHERE run = runs.id), version
FROM runs
"""


def begin_run(rows: Rows, agent: str, session: str, task: str, request: Requested) -> int:
    """A new run and its first event; its number."""
    rows.run(
        "INSERT INTO runs (version, agent, session, task, began_at) VALUES (?, ?, ?, ?, ?)",
        *(VERSION, agent, session, encodable_text(task), time.time()),
    )
    run = rows.last_insert_rowid
    append_event(rows, run, request)
    return run


def append_event(rows: Rows, run: int, event: RunEvent) -> None:
    """The next event of a run."""
    rows.run(_APPEND, run, time.time(), kind_of(event), event_to_json(event), run)


def end_run(rows: Rows, run: int, event: RunEvent, outcome: RunOutcome) -> None:
    """The last event of a run. Raises RunNotFound: there is no such run, or it has ended."""
    rows.run(
        "UPDATE runs SET ended_at = ?, outcome = ? WHERE id = ? AND outcome IS NULL",
        *(time.time(), outcome, run),
    )
    if not rows.changes:
        raise RunNotFound(f"run {run} cannot be ended: there is none, or it has ended")
    append_event(rows, run, event)


def reopen_run(rows: Rows, run: int) -> list[RunEvent]:
    """Note that an unfinished run is resumed; what had happened in it before.

    Raises RunNotFound: there is no such run, or it has ended; JournalError as `events_of`.
    """
    outcome = find_run(rows, run).outcome
    if outcome is not None:
        raise RunNotFound(f"run {run} cannot be resumed: it has ended ({outcome})")
    kept = events_of(rows, run)
    append_event(rows, run, Resumed())
    return [each.event for each in kept]


def find_run(rows: Rows, run: int) -> RunInfo:
    """A run. Raises RunNotFound: there is none of that number."""
    for row in rows.query(f"{_INFO} WHERE id = ?", run):
        return _info(row)
    raise RunNotFound(f"the journal has no run {run}; `greenroom runs list` shows those it has")


def list_runs(
    rows: Rows, agent: str | None = None, *, unfinished: bool = False, limit: int = -1
) -> list[RunInfo]:
    """The newest runs first; of one agent, or of all. A negative limit is none."""
    where = "outcome IS NULL AND" if unfinished else ""
    found = rows.query(
        f"{_INFO} WHERE {where} (? IS NULL OR agent = ?) ORDER BY id DESC LIMIT ?",
        *(agent, agent, limit),
    )
    return [_info(row) for row in found]


def events_of(rows: Rows, run: int) -> list[KeptEvent]:
    """All events of a run, in order.

    Raises RunNotFound: there is no such run; JournalError: it is of a newer version, or cannot be read.
    """
    info = find_run(rows, run)
    if info.version > VERSION:
        raise JournalError(
            f"run {run} was kept by a newer greenroom (journal version {info.version}, this one reads "
            f"up to {VERSION}); use that one"
        )
    found = rows.query("SELECT number, at, body FROM run_events WHERE run = ? ORDER BY number", run)
    return [
        KeptEvent(number, time_of(at), event_from_json(body, run, number))
        for number, at, body in found
    ]


def forget_runs(rows: Rows, ended_before: datetime) -> int:
    """Remove the runs that ended before, with their events; how many. Unfinished ones stay."""
    rows.run("DELETE FROM runs WHERE ended_at < ?", ended_before.timestamp())
    return rows.changes


def _info(row: Any) -> RunInfo:
    id_, agent, session, task, began_at, ended_at, outcome, events, version = row
    ended = None if ended_at is None else time_of(ended_at)
    return RunInfo(id_, agent, session, task, time_of(began_at), ended, outcome, events, version)
