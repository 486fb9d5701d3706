"""The tool executor: one actor per system that runs tool calls, many at a time.

Coroutine tools run on the loop, plain functions on worker threads. Each call has its deadline; one that
does not end costs a thread, never an agent. A cancelled call is cancelled, or, where a plain function
runs, given up: its thread is replaced until it ends.

A tool that asks the agent that called it would wait for itself; the wait graph sees it through the
worker thread and raises `AskCycle` in the tool.
"""

from __future__ import annotations

from typing import Any, cast

from msgspec import Struct

from actors.tools.bench import ToolBench
from actors.tools.decision import Ready
from runtime import Actor, ActorRef, ActorSystem, Reply

CALLS_AT_ONCE = 256
"""Default for calls that run at one time in a system; the others wait in order."""

THREADS = 32
"""Default for threads, and so for plain functions that run at one time."""


class RunTool(Struct, frozen=True):
    """Run a tool call that has been allowed; the answer is its JSON result, error results included."""

    call: Ready


class OpenBench(Struct, frozen=True):
    """Ask for the bench of the present incarnation; the answer is a `ToolBench`."""


class ToolExecutor(Actor):
    """See the module."""

    def __init__(self, calls_at_once: int = CALLS_AT_ONCE, threads: int = THREADS) -> None:
        super().__init__()
        self._calls_at_once = calls_at_once
        self._thread_limit = threads
        self._bench: ToolBench | None = None

    def on_start(self) -> None:
        """Prepare the bench; its threads are started when they are needed."""
        threads = self.system.worker_threads(f"{self.system.name}-tools", limit=self._thread_limit)
        self._bench = ToolBench(self, self._calls_at_once, threads)

    def on_receive(self, message: Any) -> Any:
        """Run a call beside the others; the mailbox is free at once."""
        match message:
            case RunTool(call):
                assert self._bench is not None
                return self.background(self._bench.run_call(call), label=call.tool.name)
            case OpenBench():
                return self._bench
        return super().on_receive(message)

    def on_stop(self) -> None:
        """Let the threads end."""
        if self._bench is not None:
            self._bench.close()

    def on_failure(self, *_: object) -> None:
        """Let the threads end."""
        self.on_stop()


def tool_executor(system: ActorSystem) -> ActorRef[ToolExecutor]:
    """The executor that all agents of a system share, started when it is first needed."""
    return system.ensure(ToolExecutor, name="tool-executor")


def run_on(executor: ActorRef[ToolExecutor], call: Ready) -> Reply[Any]:
    """Run an allowed call on an executor; the call's own deadline bounds the wait."""
    return executor.aask(RunTool(call))


def open_bench(executor: ActorRef[ToolExecutor]) -> Reply[ToolBench]:
    """The bench of an executor, to run calls on the system's loop without a message for each."""
    return cast("Reply[ToolBench]", executor.aask(OpenBench(), timeout=30.0))
