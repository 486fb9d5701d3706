"""The end of the loop thread: it cleans up, whoever asks for its end and however often."""

from __future__ import annotations

import asyncio
import threading

import pytest

from runtime.loop import LoopThread


@pytest.mark.parametrize("uvloop", [False, None], ids=["asyncio", "fastest"])
def test_a_second_stop_does_not_break_off_the_cleaning_up(uvloop: bool | None) -> None:
    """The system's tree stops the loop from within, and its owner once more from outside.

    1. Both stops are asked for before the first one takes effect.
    2. The loop leaves for the first one; a task that was left needs the loop to end.
    3. The second one must not stop the loop then.
    """
    thread = LoopThread("test", uvloop=uvloop)
    cleaned: list[str] = []

    async def slow_to_end() -> None:
        loop = asyncio.get_running_loop()
        loop.call_soon(thread.leave)
        loop.call_soon(thread.leave)
        begun.set()
        try:
            await loop.create_future()
        finally:
            for _ in range(10):
                await asyncio.sleep(0)
            cleaned.append("up")

    begun = threading.Event()
    tasks: list[asyncio.Task[None]] = []
    thread.start()
    thread.loop.call_soon_threadsafe(lambda: tasks.append(thread.loop.create_task(slow_to_end())))
    assert begun.wait(10.0)
    assert thread.stop(10.0)
    assert cleaned == ["up"]
