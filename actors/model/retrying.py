"""`RetryingProvider`: waits and asks again when a model server says it is busy.

By default only where the server itself names a time: status 429 or 503 with a Retry-After of at most
30 s, once. Everything else goes to the caller, because a turn asks again by its own rule (gaia 1.3e) and
two layers that both retry multiply. `RetryPolicy` widens that.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from msgspec import Struct

from actors.errors import ModelError, ModelHTTPError
from actors.model.provider import ModelProvider, ModelReply, ModelRequest, TokenSink
from actors.model.wrapped import WrappedProvider

_T = TypeVar("_T")


class RetryPolicy(Struct, frozen=True):
    """When to ask again.

    max_retries     how often at most (default 1; 0 never)
    statuses        the HTTP statuses that are worth it (default 429 and 503)
    longest_wait_s  a longer Retry-After is not waited for, the error goes to the caller (default 30)
    backoff_s       the first wait where the server names none, doubled each time; 0 (the default) does
                    not ask again without a Retry-After
    jitter          up to this share is added to each wait at random, so that agents refused together
                    do not come back together (default 0.1); never subtracted: earlier is too early
    """

    max_retries: int = 1
    statuses: frozenset[int] = frozenset({429, 503})
    longest_wait_s: float = 30.0
    backoff_s: float = 0.0
    jitter: float = 0.1


def retry_wait(policy: RetryPolicy, error: ModelError, retries: int, chance: float) -> float | None:
    """The seconds to wait before asking again, or None to give up.

    `retries` counts those made so far; `chance` is a random number from 0 to 1.
    """
    if not isinstance(error, ModelHTTPError) or error.status not in policy.statuses:
        return None
    if retries >= policy.max_retries:
        return None
    wait = error.retry_after_s
    if wait is None:
        if policy.backoff_s <= 0:
            return None
        wait = min(policy.backoff_s * 2.0**retries, policy.longest_wait_s)
    if wait > policy.longest_wait_s:
        return None
    return wait * (1.0 + policy.jitter * chance)


class RetryingProvider(WrappedProvider):
    """`inner`, asked again as `policy` says; see the module.

    A stream is asked for again only while nothing of it has come, which is always so for the errors a
    policy can name. Cancelling ends a wait. `sleep` and `chance` are for tests.
    """

    def __init__(
        self,
        inner: ModelProvider,
        policy: RetryPolicy | None = None,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        super().__init__(inner)
        self._policy = policy or RetryPolicy()
        self._sleep = sleep
        self._chance = chance

    async def generate(self, request: ModelRequest) -> ModelReply:
        """As the provider within, once its server has time. Raises the last error."""
        return await self._persist(lambda: self._inner.generate(request))

    async def stream(self, request: ModelRequest, on_token: TokenSink) -> ModelReply:
        """As the provider within, once its server has time. Raises the last error."""
        return await self._persist(lambda: self._inner.stream(request, on_token))

    async def _persist(self, ask: Callable[[], Awaitable[_T]]) -> _T:
        retries = 0
        while True:
            try:
                return await ask()
            except ModelError as error:
                wait = retry_wait(self._policy, error, retries, self._chance())
                if wait is None:
                    raise
            await self._sleep(wait)
            retries += 1
