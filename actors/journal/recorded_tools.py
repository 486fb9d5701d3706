"""Tools with a record before them: what has ended is not run again, and what may have run is not repeated.

A call that had started, and is not known to have ended, runs again only if its tool says that this does no harm
(`Tool.idempotent`). Otherwise the model is told that nobody knows whether it took effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from actors.journal.events import ApprovalAsked, ToolFinished, ToolStarted
from actors.journal.run_record import RunRecord
from actors.model.toolspec import ToolSpec
from actors.tools.call_watch import CallWatch
from actors.tools.decision import NeedsApproval, Ready, error_result

OUTCOME_UNKNOWN = (
    "outcome unknown: this call had begun when the program was interrupted, and nobody knows whether it "
    "took effect; it was not repeated. Find out before you call it again."
)


class WatchedTools(Protocol):
    """A `ToolRunner` that tells of each step of a call (`RegistryRunner`)."""

    @property
    def version(self) -> int:
        """See `ToolRunner`."""

    def specs(self) -> Sequence[ToolSpec]:
        """See `ToolRunner`."""

    def parallel_safe(self, names: Sequence[str]) -> bool:
        """See `ToolRunner`."""

    async def run(self, name: str, args: dict[str, Any], watch: CallWatch | None = None) -> Any:
        """See `ToolRunner`."""


class RecordedTools:
    """A `ToolRunner` for one run. Raises JournalError where a step cannot be kept, and the tool is not run."""

    def __init__(self, tools: WatchedTools, record: RunRecord) -> None:
        self._tools = tools
        self._record = record
        self.specs = tools.specs
        self.parallel_safe = tools.parallel_safe

    @property
    def version(self) -> int:
        """That of the tools."""
        return self._tools.version

    async def run(self, name: str, args: dict[str, Any]) -> Any:
        """The result that is known, or a new one."""
        record = self._record
        number, past = record.next_call(name, args)
        if past.finished is not None:
            return past.finished.result
        await record.go_live()
        if past.started is not None and not past.started.repeatable:
            result: Any = error_result(OUTCOME_UNKNOWN)
        else:
            watch = _Watch(record, number, name, args)
            result = await self._tools.run(name, args, watch)
        await record.append(ToolFinished(number, name, args, result))
        return result


class _Watch:
    def __init__(self, record: RunRecord, number: int, name: str, args: Any) -> None:
        self._record = record
        self._call = (number, name, args)

    async def approval_asked(self, _: NeedsApproval) -> None:
        await self._record.append(ApprovalAsked(*self._call))

    async def tool_starting(self, call: Ready) -> None:
        await self._record.append(ToolStarted(*self._call, repeatable=call.tool.idempotent))
