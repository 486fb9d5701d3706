"""`RunRecord`: the journal of one run, while the run goes on: what has happened already, and what happens now.

A resumed run goes the same way again, by the same turn: as long as the record has something, that is given and
nothing is done. Where it has no more, the run is `live`: it does what comes next, and appends it here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from msgspec import Struct

from actors.errors import AgentError, JournalError
from actors.journal.events import (
    ApprovalAsked,
    ModelFailed,
    ModelReplied,
    Requested,
    Responded,
    Resumed,
    RunEvent,
    RunFailed,
    RunOutcome,
    ToolFinished,
    ToolStarted,
)
from actors.journal.run_rows import append_event, end_run
from actors.model.wire_json import encode_json
from actors.store_seam import Rows, RowStore
from actors.to_the_end import to_the_end
from runtime import ActorDeadError, RuntimeFault


class PastCall(Struct):
    """What is known of one tool call: its start and its end, as far as there were any."""

    started: ToolStarted | None = None
    finished: ToolFinished | None = None


class Past:
    """The events of a run, by what asks for them. Each reply and each call is given once."""

    def __init__(self, events: Iterable[RunEvent]) -> None:
        self.request: Requested | None = None
        self.replies: deque[ModelReplied | ModelFailed] = deque()
        self.calls: dict[int, PastCall] = {}
        self.end: Responded | RunFailed | None = None
        self.fruitless_resumes = 0
        """How often in a row it was resumed, at last, without anything that came of it."""
        for event in events:
            self._take(event)

    def _take(self, event: RunEvent) -> None:
        self.fruitless_resumes = self.fruitless_resumes + 1 if isinstance(event, Resumed) else 0
        match event:
            case Requested():
                self.request = event
            case ModelReplied() | ModelFailed():
                self.replies.append(event)
            case ToolStarted():
                self.calls.setdefault(event.call, PastCall()).started = event
            case ToolFinished():
                self.calls.setdefault(event.call, PastCall()).finished = event
            case Responded() | RunFailed():
                self.end = event
            case ApprovalAsked() | Resumed():
                pass  # asked again, and told again


def as_kept(value: Any) -> Any:
    """A JSON value as it comes back from the journal."""
    return msgspec.json.decode(encode_json(value))


class RunRecord:
    """See the module. Of one run; used on the loop. `number` is the run's."""

    def __init__(self, store: RowStore, number: int, events: Iterable[RunEvent] = ()) -> None:
        self.number = number
        self.past = Past(events)
        self.live = self.past.request is None
        self._store = store
        self._calls = 0

    def next_reply(self) -> ModelReplied | ModelFailed | None:
        """What the model said at this point; None where it has not been asked yet."""
        return self.past.replies.popleft() if self.past.replies else None

    def next_call(self, tool: str, args: Any) -> tuple[int, PastCall]:
        """The number of this call, and what is known of it.

        Raises JournalError: at this point there was another call. The run cannot be resumed by this program.
        """
        self._calls += 1
        past = self.past.calls.get(self._calls, PastCall())
        known = past.finished or past.started
        if known is not None and (known.tool, known.args) != (tool, as_kept(args)):
            raise JournalError(
                f"run {self.number} goes another way than it went: call {self._calls} was "
                f"{known.tool!r} with {known.args!r:.200}, and is now {tool!r} with {args!r:.200}"
            )
        return self._calls, past

    async def go_live(self) -> None:
        """The record has no more: what comes next has to be done."""
        self.live = True

    async def append(self, event: RunEvent) -> None:
        """Keep an event. A cancel waits for it, so that nothing is done that is not kept.

        Raises JournalError: it could not be kept.
        """
        number = self.number
        await self._kept(lambda rows: append_event(rows, number, event))

    async def end(
        self,
        event: Responded | RunFailed,
        outcome: RunOutcome,
        also: Callable[[Rows], None] | None = None,
    ) -> None:
        """Keep the last event, and do `also` in the same transaction. Raises as `append`."""

        def work(rows: Rows) -> None:
            end_run(rows, self.number, event, outcome)
            if also is not None:
                also(rows)

        await self._kept(work)

    async def _kept(self, work: Callable[[Rows], None]) -> None:
        try:
            await to_the_end(self._store.awrite(work))
        except (AgentError, RuntimeFault, ActorDeadError) as error:
            raise JournalError(
                f"an event of run {self.number} could not be kept, so the run stops here and stays "
                f"unfinished: {error}"
            ) from error
