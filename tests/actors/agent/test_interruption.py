"""Breaking off a wait by token, by deadline, and not by mistake."""

from __future__ import annotations

import asyncio
import threading

import pytest

from actors.agent.cancel import CancelToken
from actors.agent.interruption import Interrupted, Interruption
from tests.actors.agent.on_loop import on_loop


async def _for_ever() -> None:
    await asyncio.get_running_loop().create_future()


@on_loop
async def test_a_request_breaks_off_a_wait_at_once() -> None:
    token = CancelToken()
    asyncio.get_running_loop().call_soon(token.request)
    with Interruption(token, None) as interruption:
        with pytest.raises(Interrupted):
            await interruption.wait(_for_ever())
        assert interruption.reason == "cancelled"


@on_loop
async def test_a_request_from_a_thread_breaks_off_a_wait() -> None:
    token = CancelToken()
    thread = threading.Thread(target=token.request)
    with Interruption(token, None) as interruption:
        asyncio.get_running_loop().call_soon(thread.start)
        with pytest.raises(Interrupted):
            await interruption.wait(_for_ever())
    thread.join()


@on_loop
async def test_a_broken_off_wait_leaves_the_task_uncancelled() -> None:
    task = asyncio.current_task()
    assert task is not None
    with Interruption(None, 0.0) as interruption:
        with pytest.raises(Interrupted):
            await interruption.wait(_for_ever())
        assert interruption.reason == "deadline"
    assert task.cancelling() == 0
    await asyncio.sleep(0)


@on_loop
async def test_a_deadline_that_passes_between_waits_is_seen_as_reason() -> None:
    with Interruption(None, 0.0) as interruption:
        await asyncio.sleep(0.001)
        assert interruption.reason == "deadline"


@on_loop
async def test_a_cancel_is_named_before_a_deadline() -> None:
    token = CancelToken()
    token.request()
    with Interruption(token, 0.0) as interruption:
        await asyncio.sleep(0.001)
        assert interruption.reason == "cancelled"


@on_loop
async def test_work_that_ends_within_the_grace_keeps_its_value() -> None:
    token = CancelToken()

    async def cancels_and_returns() -> str:
        token.request()
        for _ in range(5):
            await asyncio.sleep(0)
        return "value"

    with Interruption(token, None) as interruption:
        assert await interruption.wait(cancels_and_returns(), grace_s=30.0) == "value"
        assert interruption.reason == "cancelled"


@on_loop
async def test_work_that_outlasts_the_grace_is_broken_off() -> None:
    token = CancelToken()
    asyncio.get_running_loop().call_soon(token.request)
    with Interruption(token, None) as interruption, pytest.raises(Interrupted):
        await interruption.wait(_for_ever(), grace_s=0.001)


@on_loop
async def test_a_deadline_gives_no_grace() -> None:
    with Interruption(None, 0.001) as interruption, pytest.raises(Interrupted):
        await interruption.wait(_for_ever(), grace_s=1000.0)


@on_loop
async def test_work_that_swallows_its_cancellation_leaves_the_task_uncancelled() -> None:
    async def stubborn() -> str:
        try:
            await _for_ever()
        except asyncio.CancelledError:
            return "still here"
        return "never"

    task = asyncio.current_task()
    assert task is not None
    with Interruption(None, 0.0) as interruption:
        assert await interruption.wait(stubborn()) == "still here"
    assert task.cancelling() == 0


@on_loop
async def test_a_cancel_from_outside_stays_a_cancel() -> None:
    token = CancelToken()

    async def turn() -> None:
        with Interruption(token, None) as interruption:
            await interruption.wait(_for_ever())

    task = asyncio.create_task(turn())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@on_loop
async def test_a_cancel_from_outside_wins_over_a_request_at_the_same_moment() -> None:
    token = CancelToken()

    async def turn() -> None:
        with Interruption(token, None) as interruption:
            await interruption.wait(_for_ever())

    task = asyncio.create_task(turn())
    await asyncio.sleep(0)
    token.request()
    asyncio.get_running_loop().call_soon(task.cancel)
    with pytest.raises(asyncio.CancelledError):
        await task


@on_loop
async def test_a_request_after_the_turn_changes_nothing() -> None:
    token = CancelToken()
    with Interruption(token, None):
        pass
    token.request()
    await asyncio.sleep(0)


def test_a_request_after_the_loop_closed_changes_nothing() -> None:
    token = CancelToken()

    async def leave_open() -> None:
        Interruption(token, None).__enter__()

    asyncio.run(leave_open())
    token.request()
    assert token.requested


def test_a_turn_outside_of_a_task_is_told_so() -> None:
    loop = asyncio.new_event_loop()
    failures: list[BaseException] = []

    def enter() -> None:
        try:
            Interruption(None, None).__enter__()
        except RuntimeError as error:
            failures.append(error)

    loop.call_soon(enter)
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    assert "runs in an asyncio task" in str(failures[0])
