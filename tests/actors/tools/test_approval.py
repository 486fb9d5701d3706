"""Approvers that are functions."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from actors.tools.approval import Approval, CallbackApprover
from tests.actors.agent.on_loop import on_loop


@on_loop
async def test_a_plain_function_is_asked_on_a_thread_and_may_block() -> None:
    asked: list[Any] = []
    may_answer = threading.Event()

    def ask(name: str, args: Any) -> Approval:
        asked.append((name, args, threading.current_thread() is threading.main_thread()))
        assert may_answer.wait(10)
        return Approval.ALLOW_ONCE

    question = asyncio.ensure_future(CallbackApprover(ask).approve("demo", {"a": 1}))
    await asyncio.sleep(0)  # the loop goes on while the function waits
    may_answer.set()
    assert await question is Approval.ALLOW_ONCE
    assert asked == [("demo", {"a": 1}, False)]


@on_loop
async def test_a_coroutine_function_is_asked_on_the_loop() -> None:
    async def ask(name: str, args: Any) -> Approval:
        assert threading.current_thread() is threading.main_thread()
        await asyncio.sleep(0)
        return Approval.ALWAYS_ALLOW

    assert await CallbackApprover(ask).approve("demo", {}) is Approval.ALWAYS_ALLOW


@on_loop
async def test_what_the_function_raises_comes_through() -> None:
    def ask(name: str, args: Any) -> Approval:
        raise OSError("no line to the boss")

    with pytest.raises(OSError, match="no line to the boss"):
        await CallbackApprover(ask).approve("demo", {})


@on_loop
async def test_a_cancelled_question_does_not_wait_for_the_function() -> None:
    asked, may_answer = threading.Event(), threading.Event()

    def ask(name: str, args: Any) -> Approval:
        asked.set()
        assert may_answer.wait(10)
        return Approval.ALLOW_ONCE

    question = asyncio.create_task(CallbackApprover(ask).approve("demo", {}))
    await asyncio.to_thread(asked.wait, 10)
    question.cancel()
    with pytest.raises(asyncio.CancelledError):
        await question
    may_answer.set()
