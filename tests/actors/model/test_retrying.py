"""When a busy model server is asked again, and how long before."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from actors.errors import ModelError, ModelHTTPError, ModelTimeout, ModelUnavailable
from actors.model.provider import ModelReply, ModelRequest, TokenSink
from actors.model.retrying import RetryingProvider, RetryPolicy, retry_wait

REQUEST = ModelRequest("m", (), max_tokens=1, temperature=0.0)
EAGER = RetryPolicy(max_retries=5, statuses=frozenset({429, 500}), backoff_s=2.0)


def busy(status: int = 429, retry_after_s: float | None = None) -> ModelHTTPError:
    return ModelHTTPError("busy", status=status, retry_after_s=retry_after_s)


@pytest.mark.parametrize(
    ("policy", "error", "retries", "chance", "wait"),
    [
        (RetryPolicy(), busy(429, 7.0), 0, 0.0, 7.0),
        (RetryPolicy(), busy(503, 30.0), 0, 0.0, 30.0),
        (RetryPolicy(), busy(429, 0.0), 0, 0.5, 0.0),
        (RetryPolicy(), busy(429, 10.0), 0, 1.0, 11.0),
        (RetryPolicy(), busy(429, 30.5), 0, 0.0, None),  # longer than the cap
        (RetryPolicy(), busy(429, 7.0), 1, 0.0, None),  # once is enough
        (RetryPolicy(), busy(429), 0, 0.0, None),  # no time was named
        (RetryPolicy(), busy(500, 7.0), 0, 0.0, None),  # not busy but broken
        (RetryPolicy(), ModelUnavailable("x"), 0, 0.0, None),
        (RetryPolicy(), ModelTimeout("x"), 0, 0.0, None),
        (RetryPolicy(max_retries=0), busy(429, 7.0), 0, 0.0, None),
        (EAGER, busy(500), 0, 0.0, 2.0),
        (EAGER, busy(500), 2, 0.0, 8.0),
        (EAGER, busy(500), 4, 0.0, 30.0),  # 32 s, capped
        (EAGER, busy(429, 1.0), 2, 0.0, 1.0),  # the server knows better
        (EAGER, busy(500), 5, 0.0, None),
    ],
)
def test_the_wait_before_asking_again(
    policy: RetryPolicy, error: ModelError, retries: int, chance: float, wait: float | None
) -> None:
    assert retry_wait(policy, error, retries, chance) == pytest.approx(wait)


class Failing:
    """A provider that raises the given errors one after another, then answers."""

    name = "failing"
    local = False

    def __init__(self, errors: Sequence[ModelError]) -> None:
        self.errors = list(errors)
        self.calls = 0

    async def available(self) -> bool:
        return False

    async def prepare(self, model: str, context_size: int) -> None:
        raise ModelUnavailable(f"{model} {context_size}")

    async def generate(self, request: ModelRequest) -> ModelReply:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return ModelReply("there")

    async def stream(self, request: ModelRequest, on_token: TokenSink) -> ModelReply:
        reply = await self.generate(request)
        on_token("there")
        return reply


def ask(inner: Failing, waits: list[float], policy: RetryPolicy | None = None) -> ModelReply:
    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    provider = RetryingProvider(inner, policy, sleep=sleep, chance=lambda: 0.0)
    return asyncio.run(provider.generate(REQUEST))


def test_a_busy_server_is_asked_again_after_the_time_it_named() -> None:
    waits: list[float] = []
    assert ask(Failing([busy(429, 3.0)]), waits).text == "there"
    assert waits == [3.0]


def test_the_last_error_is_raised() -> None:
    waits: list[float] = []
    inner = Failing([busy(429, 3.0), busy(503, 4.0)])
    with pytest.raises(ModelHTTPError) as caught:
        ask(inner, waits)
    assert (caught.value.status, waits, inner.calls) == (503, [3.0], 2)


def test_back_off_doubles() -> None:
    waits: list[float] = []
    ask(Failing([busy(500)] * 3), waits, EAGER)
    assert waits == [2.0, 4.0, 8.0]


def test_a_stream_is_asked_again_and_its_tokens_come_once() -> None:
    async def sleep(_seconds: float) -> None:
        pass

    tokens: list[str] = []
    provider = RetryingProvider(Failing([busy(429, 3.0)]), sleep=sleep)
    assert asyncio.run(provider.stream(REQUEST, tokens.append)).text == "there"
    assert tokens == ["there"]


def test_cancelling_ends_the_wait() -> None:
    async def main() -> None:
        waiting = asyncio.Event()

        async def sleep(_seconds: float) -> None:
            waiting.set()
            await asyncio.Event().wait()

        inner = Failing([busy(429, 3.0)])
        call = asyncio.create_task(RetryingProvider(inner, sleep=sleep).generate(REQUEST))
        await waiting.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert inner.calls == 1

    asyncio.run(main())


def test_everything_else_is_the_inner_providers() -> None:
    async def main() -> None:
        provider = RetryingProvider(Failing([]))
        assert (provider.name, provider.local) == ("failing", False)
        assert not await provider.available()
        with pytest.raises(ModelUnavailable, match="m 5"):
            await provider.prepare("m", 5)

    asyncio.run(main())
