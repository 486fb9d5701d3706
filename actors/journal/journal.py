"""`Journal`: the runs of agents that a store keeps, event by event.

    journal = Journal(store)
    for run in journal.runs(unfinished=True):
        print(run.id, run.agent, run.task)
    for kept in journal.events(run.id):
        print(kept.number, kept.event)

The store has `STANDARD_TABLES`. Plain methods block and are for threads; those with an `a` are for the loop.
"""

from __future__ import annotations

from datetime import datetime

from actors.journal.events import Requested, RunFailed
from actors.journal.run_record import RunRecord
from actors.journal.run_rows import (
    KeptEvent,
    RunInfo,
    begin_run,
    end_run,
    events_of,
    find_run,
    forget_runs,
    list_runs,
    reopen_run,
)
from actors.store_seam import RowStore


class Journal:
    """See the module. All raise DatabaseError from the store, and `ActorDeadError` once that has ended."""

    def __init__(self, store: RowStore) -> None:
        self._store = store

    # -- to look at it ----------------------------------------------------------------------------

    def runs(
        self, agent: str | None = None, *, unfinished: bool = False, limit: int = -1
    ) -> list[RunInfo]:
        """The newest first; of one agent, or of all. A negative `limit` is none."""
        return self._store.read(
            lambda rows: list_runs(rows, agent, unfinished=unfinished, limit=limit)
        )

    def run(self, number: int) -> RunInfo:
        """A run. Raises RunNotFound."""
        return self._store.read(lambda rows: find_run(rows, number))

    def events(self, number: int) -> list[KeptEvent]:
        """All that happened in a run, in order.

        Raises RunNotFound; JournalError: a newer greenroom kept it, or it cannot be read.
        """
        return self._store.read(lambda rows: events_of(rows, number))

    def abandon(self, number: int, why: str) -> None:
        """Give an unfinished run up: it is not resumed. Raises RunNotFound: it has ended, or there is none."""
        self._store.write(lambda rows: end_run(rows, number, RunFailed(why), "abandoned"))

    def forget(self, *, ended_before: datetime) -> int:
        """Remove the runs that ended before (a time with its zone); how many they were."""
        return self._store.write(lambda rows: forget_runs(rows, ended_before))

    # -- to go on with it -------------------------------------------------------------------------

    async def abegin(self, agent: str, session: str, task: str, request: Requested) -> RunRecord:
        """Begin a run; it is kept when this returns."""
        number = await self._store.awrite(
            lambda rows: begin_run(rows, agent, session, task, request)
        )
        return RunRecord(self._store, number)

    async def aunfinished(self, agent: str) -> list[RunInfo]:
        """The unfinished runs of an agent, the oldest first."""
        runs = await self._store.aread(lambda rows: list_runs(rows, agent, unfinished=True))
        return runs[::-1]

    async def areopen(self, number: int) -> RunRecord:
        """An unfinished run, to go on with it. Raises RunNotFound, JournalError."""
        events = await self._store.awrite(lambda rows: reopen_run(rows, number))
        return RunRecord(self._store, number, events)

    async def aabandon(self, number: int, why: str) -> None:
        """The awaitable twin of `abandon`."""
        await self._store.awrite(lambda rows: end_run(rows, number, RunFailed(why), "abandoned"))
