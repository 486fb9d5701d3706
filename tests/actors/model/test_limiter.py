"""So many calls of a model at once and no more."""

from __future__ import annotations

import asyncio

import pytest

from actors.errors import ConfigError, ModelUnavailable
from actors.model.limiter import LimitedProvider
from actors.model.provider import ModelProvider, ModelReply, ModelRequest
from tests.actors.model.gated_provider import GatedProvider


async def settled() -> None:
    """Let every task run until it waits."""
    for _ in range(10):
        await asyncio.sleep(0)


def test_no_more_than_the_limit_are_in_flight_and_the_rest_follow_in_order() -> None:
    async def main() -> None:
        inner = GatedProvider()
        limited: ModelProvider = LimitedProvider(inner, 2)
        calls = [asyncio.create_task(limited.generate(named(n))) for n in range(5)]
        await settled()
        assert inner.begun == ["0", "1"]
        for n in range(5):
            inner.answer(str(n))
            await settled()
            assert inner.begun == [str(each) for each in range(min(5, n + 3))]
        assert [(await call).text for call in calls] == ["0", "1", "2", "3", "4"]

    asyncio.run(main())


def test_a_waiting_call_that_is_cancelled_leaves_the_queue() -> None:
    async def main() -> None:
        inner = GatedProvider()
        limited = LimitedProvider(inner, 1)
        calls = [asyncio.create_task(limited.generate(named(n))) for n in range(3)]
        await settled()
        calls[1].cancel()
        inner.answer("0")
        await settled()
        assert inner.begun == ["0", "2"]
        inner.answer("2")
        await asyncio.gather(*calls, return_exceptions=True)

    asyncio.run(main())


def test_a_call_that_is_cancelled_or_fails_in_flight_frees_its_slot() -> None:
    async def main() -> None:
        inner = GatedProvider()
        limited = LimitedProvider(inner, 1)
        calls = [asyncio.create_task(limited.generate(named(n))) for n in range(3)]
        await settled()
        calls[0].cancel()
        await settled()
        inner.fail("1", ModelUnavailable("gone"))
        await settled()
        inner.answer("2")
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert isinstance(outcomes[0], asyncio.CancelledError)
        assert isinstance(outcomes[1], ModelUnavailable)
        assert isinstance(outcomes[2], ModelReply)

    asyncio.run(main())


def test_streams_take_slots_too_and_pass_their_tokens() -> None:
    async def main() -> None:
        inner = GatedProvider()
        limited = LimitedProvider(inner, 1)
        tokens: list[str] = []
        first = asyncio.create_task(limited.stream(named(0), tokens.append))
        second = asyncio.create_task(limited.generate(named(1)))
        await settled()
        assert inner.begun == ["0"]
        inner.answer("0")
        inner.answer("1")
        await asyncio.gather(first, second)
        assert tokens == ["0"]

    asyncio.run(main())


def test_everything_else_is_the_inner_providers() -> None:
    async def main() -> None:
        inner = GatedProvider()
        limited = LimitedProvider(inner, 1)
        assert (limited.name, limited.local) == ("gated", True)
        assert await limited.available()
        await limited.prepare("m", 5)
        assert inner.prepared == [("m", 5)]

    asyncio.run(main())


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ConfigError, match="at least 1"):
        LimitedProvider(GatedProvider(), 0)


def named(number: int) -> ModelRequest:
    return ModelRequest(str(number), (), max_tokens=1, temperature=0.0)
