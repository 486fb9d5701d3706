"""`ToolBench`: where the calls of a system's executor run, for who makes many of them.

The executor hands it out and is not in the way of calls: on the system's loop a plain function is awaited
in the caller's own task, which costs a third less than a message to the executor and a task there. A
coroutine tool has a task of the executor's all the same, since it may refuse to be cancelled, and a turn
must not wait for it: neither after a cancel, nor beyond its deadline. It then keeps one of the places for
calls until it ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from actors.tools.decision import Ready
from actors.tools.execution import did_not_end, is_awaitable, is_coroutine_function, run_tool
from runtime import Actor, WorkerThreads
from runtime.waits import CURRENT, Awaited

LET_GO_S = 1.0
"""Seconds a coroutine tool has to end once it was cancelled at its deadline."""


class ToolBench:
    """See the module. Belongs to one incarnation of the executor, and is closed with it."""

    def __init__(self, owner: Actor, calls_at_once: int, threads: WorkerThreads) -> None:
        self._owner = owner
        self._slots = asyncio.Semaphore(calls_at_once)
        self._threads = threads
        self.closed = False

    def here(self) -> bool:
        """Whether the running thread is the system's loop, where the bench may be used."""
        return bool(self._owner.system.loop_thread.here())

    async def run_call(self, call: Ready) -> Any:
        """The JSON result of a call, as `run_tool`."""
        if not is_coroutine_function(call.tool.run):
            async with self._slots:
                return await run_tool(call, self)
        bound = asyncio.timeout(None)
        try:
            async with bound:
                return await self._owner.background(
                    self._run_within(call, bound), label=call.tool.name
                )
        except TimeoutError:
            return did_not_end(call.tool)

    async def _run_within(self, call: Ready, bound: asyncio.Timeout) -> Any:
        """Run a call in its own task; `bound`, of who waits, begins when the call has its place."""
        async with self._slots:
            if call.tool.timeout_s is not None:
                now = asyncio.get_running_loop().time()
                try:
                    bound.reschedule(now + call.tool.timeout_s + LET_GO_S)
                except RuntimeError:
                    pass  # who waited is gone, and this task is being cancelled
            return await run_tool(call, self)

    async def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Run a plain function on a worker thread; for `run_tool`. What it gives to await is awaited."""
        line = _Line(self._owner, function)
        reply = self._threads.submit(line.run, args)
        reply.target = line
        result = await reply
        if is_awaitable(result):
            return await self._owner.background(_await(result), label="awaitable")
        return result

    def close(self) -> None:
        """Let the threads end; calls that wait for one are still run."""
        self.closed = True
        self._threads.close()


class _Line:
    """A call on a thread as a line of its own in the wait graph.

    What it waits for after it was given up is then not held against the agent, which waits no longer.
    """

    __slots__ = ("_function", "_owner", "awaiting")

    def __init__(self, owner: Actor, function: Callable[..., Any]) -> None:
        self.awaiting: list[Awaited] | None = None
        self._owner = owner
        self._function = function

    @property
    def path(self) -> str:
        """`<path of the executor>#<name of the function>`."""
        name = getattr(self._function, "__name__", type(self._function).__name__)
        return f"{self._owner.actor_urn}#{name}"

    def run(self, args: tuple[Any, ...]) -> Any:
        """Call the function; on the worker thread, in the context of the job."""
        CURRENT.set(self)
        return self._function(*args)


async def _await(work: Awaitable[Any]) -> Any:
    return await work
