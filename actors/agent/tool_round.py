"""The tool calls of one reply: runs them, and records each result as a message and as events.

Calls run in the order of the reply, one after another. They overlap in time only when the runner says
that all of them are safe for it; messages and events keep the order of the reply all the same. When the
turn is stopped, a call that has been started and has no result gets an error result saying that nobody
knows whether it took effect; a call that was not started gets none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from typing import Any

from actors.agent import notices
from actors.agent.conversation import WorkingMessages
from actors.agent.interruption import Interrupted, Interruption
from actors.agent.narrator import Narrator
from actors.agent.parts import TurnParts
from actors.agent.tool_result import error_of
from actors.model.message import Message
from actors.protocol.step import PlannedCall
from actors.tools.decision import error_result

LET_GO_S = 1.0
"""Seconds cancelled calls have to end before the turn goes on without them."""


class ToolRound:
    """See the module. For one reply; `error` is the last error a tool gave, None if all went well."""

    def __init__(
        self,
        parts: TurnParts,
        working: WorkingMessages,
        narrator: Narrator,
        interruption: Interruption,
    ) -> None:
        self._parts = parts
        self._working = working
        self._narrator = narrator
        self._interruption = interruption
        self.error: str | None = None

    async def run(self, calls: Sequence[PlannedCall]) -> None:
        """Run the calls, or as many as the turn still may.

        Raises:
            Interrupted: a call was broken off. What the runner raises passes through as well.
        """
        if len(calls) > 1 and self._parts.tools.parallel_safe([call.name for call in calls]):
            await self._run_overlapping(calls)
            return
        for call in calls:
            if self._interruption.reason is not None:
                return
            await self._finish(call, self._parts.tools.run(call.name, call.arguments))

    async def _run_overlapping(self, calls: Sequence[PlannedCall]) -> None:
        run = self._parts.tools.run
        started = [(call, asyncio.ensure_future(run(call.name, call.arguments))) for call in calls]
        finished = 0
        try:
            while finished < len(started) and self._interruption.reason is None:
                call, task = started[finished]
                finished += 1
                await self._finish(call, task)
        finally:
            await _let_go([task for _, task in started])
            for call, task in started[finished:]:
                self._narrator.tool_started(call.name, call.arguments)
                self.record(call, _result_of(task, self._unfinished()))

    async def _finish(self, call: PlannedCall, work: Awaitable[Any]) -> None:
        """Wait for one call and record what came of it."""
        self._narrator.tool_started(call.name, call.arguments)
        try:
            result = await self._interruption.wait(work, grace_s=self._parts.rules.tool_grace_s)
        except (Interrupted, asyncio.CancelledError):
            self.record(call, self._unfinished())
            raise
        self.record(call, result)

    def record(self, call: PlannedCall, result: Any) -> None:
        """Tell what came of a call, and give the model its message."""
        self._narrator.tool_finished(call.name, result)
        content = self._parts.rules.tool_text(result)
        self._working.add(Message("tool", content, name=call.name, tool_call_id=call.id))
        error = error_of(result)
        if error is not None:
            self.error = error

    def _unfinished(self) -> dict[str, str]:
        return error_result(notices.unfinished_tool(self._interruption.reason))


async def _let_go(tasks: Sequence[asyncio.Future[Any]]) -> None:
    running = [task for task in tasks if not task.done()]
    for task in running:
        task.cancel()
    if running:
        await asyncio.wait(running, timeout=LET_GO_S)


def _result_of(task: asyncio.Future[Any], otherwise: Any) -> Any:
    if not task.done() or task.cancelled() or task.exception() is not None:
        return otherwise
    return task.result()
