"""One allowed call: on real threads or the loop, in time or not, with a JSON result whatever happens."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import enum
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from actors.model.toolspec import ToolSpec
from actors.tools.decision import Ready
from actors.tools.execution import run_tool
from actors.tools.tool import Tool
from runtime import ActorSystem, Reply, WorkerThreads


@pytest.fixture
def threads() -> Iterator[WorkerThreads]:
    with ActorSystem() as system:
        workers = system.worker_threads("tools", limit=2)
        yield workers
        workers.close()


def call(run: Callable[[Any], Any], *, args: Any = None, timeout_s: float | None = 120.0) -> Ready:
    return Ready(Tool(ToolSpec("demo"), run, timeout_s=timeout_s), args)


def result(threads: WorkerThreads, run: Callable[[Any], Any], **settings: Any) -> Any:
    return asyncio.run(run_tool(call(run, **settings), threads))


def failure(text: str) -> dict[str, str]:
    return {"status": "error", "error": f"Tool execution failed: {text}"}


def test_a_plain_function_runs_on_a_worker_thread(threads: WorkerThreads) -> None:
    def run(args: Any) -> Any:
        return [threading.current_thread() is threading.main_thread(), args]

    assert result(threads, run, args={"a": 1}) == [False, {"a": 1}]


def test_a_coroutine_function_runs_on_the_loop(threads: WorkerThreads) -> None:
    async def run(args: Any) -> Any:
        return [threading.current_thread() is threading.main_thread(), args]

    assert result(threads, run, args={"a": 1}) == [True, {"a": 1}]


def test_what_a_plain_function_gives_to_await_is_awaited(threads: WorkerThreads) -> None:
    async def later() -> str:
        return "later"

    answered: Reply[str] = Reply()
    answered.set("answered")
    assert result(threads, lambda _: later()) == "later"
    assert result(threads, lambda _: answered) == "answered"


class Colour(enum.Enum):
    RED = "red"


class Point(msgspec.Struct):
    x: int


@dataclasses.dataclass
class Line:
    start: Point
    colour: Colour


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (None, None),
        ("text", "text"),
        (3, 3),
        (2**70, 2**70),
        ({"a": [1, 2.5, None]}, {"a": [1, 2.5, None]}),
        ([1, {2}], [1, [2]]),
        ({1: "a"}, {"1": "a"}),
        (Line(Point(1), Colour.RED), {"start": {"x": 1}, "colour": "red"}),
        (datetime.date(2024, 2, 29), "2024-02-29"),
        ({"name": "odd \udcff"}, {"name": "odd \udcff"}),
    ],
)
def test_results_become_plain_values(threads: WorkerThreads, value: Any, plain: Any) -> None:
    assert result(threads, lambda _: value) == plain


def _endless() -> list[Any]:
    loop: list[Any] = []
    loop.append(loop)
    return loop


@pytest.mark.parametrize("value", [object(), {"f": print}, (each for each in "ab"), 1j, _endless()])
def test_a_result_json_cannot_hold_is_an_error_result(threads: WorkerThreads, value: Any) -> None:
    got = result(threads, lambda _: value)
    assert got["status"] == "error"
    assert got["error"].startswith(f"tool 'demo' returned a {type(value).__name__} that JSON")


class Panic(BaseException):
    """What native code raises when it panics is no `Exception` (pyo3's PanicException)."""


class Speechless(Exception):
    """Cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (RuntimeError("kaput"), "kaput"),
        (ValueError(), "ValueError"),
        (TimeoutError("the printer"), "the printer"),
        (TimeoutError(), "TimeoutError"),
        (SystemExit(3), "SystemExit: 3"),
        (asyncio.CancelledError("by itself"), "by itself"),
        (Panic("native code gave up"), "Panic: native code gave up"),
        (Speechless(), "Speechless"),
    ],
)
@pytest.mark.parametrize("timeout_s", [None, 60.0])
@pytest.mark.parametrize("kind", ["plain", "async"])
def test_what_a_tool_raises_is_its_error_result(
    threads: WorkerThreads, kind: str, timeout_s: float | None, error: BaseException, text: str
) -> None:
    def plain(_: Any) -> Any:
        raise error

    async def coroutine(_: Any) -> Any:
        raise error

    run = plain if kind == "plain" else coroutine
    assert result(threads, run, timeout_s=timeout_s) == failure(text)


def test_an_interrupt_passes(threads: WorkerThreads) -> None:
    async def run(_: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        result(threads, run)


def test_a_tool_that_ends_the_process_only_ends_itself(threads: WorkerThreads) -> None:
    assert result(threads, lambda _: sys.exit("bye")) == failure("SystemExit: bye")
    assert result(threads, lambda _: "next") == "next"


LATE = {"status": "error", "error": "tool 'demo' did not end within 0.01 s"}


def test_a_hung_function_is_given_up_at_its_deadline(threads: WorkerThreads) -> None:
    may_end = threading.Event()

    def run(_: Any) -> Any:
        assert may_end.wait(10)

    try:
        for _ in range(4):  # twice as many as there are threads
            assert result(threads, run, timeout_s=0.01) == LATE
        assert result(threads, lambda _: "room for others") == "room for others"
    finally:
        may_end.set()


def test_a_hung_coroutine_is_cancelled_at_its_deadline(threads: WorkerThreads) -> None:
    cancelled: list[bool] = []

    async def run(_: Any) -> Any:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.append(True)

    assert result(threads, run, timeout_s=0.01) == LATE
    assert cancelled == [True]


def test_cancelling_a_call_cancels_its_coroutine(threads: WorkerThreads) -> None:
    cancelled: list[bool] = []

    async def main() -> None:
        begun = asyncio.Event()

        async def run(_: Any) -> Any:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.append(True)

        running = asyncio.create_task(run_tool(call(run), threads))
        await begun.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(main())
    assert cancelled == [True]


def test_cancelling_a_call_does_not_wait_for_its_thread(threads: WorkerThreads) -> None:
    begun, may_end = threading.Event(), threading.Event()

    def run(_: Any) -> Any:
        begun.set()
        assert may_end.wait(10)

    async def main() -> None:
        running = asyncio.create_task(run_tool(call(run), threads))
        await asyncio.to_thread(begun.wait, 10)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    try:
        asyncio.run(main())
        assert not may_end.is_set()
    finally:
        may_end.set()
