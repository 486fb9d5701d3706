"""`LimitedProvider`: at most so many calls of a model at once, the others wait in order.

A server on this machine answers a few at a time and only queues the rest; a thousand agents waiting
here cost less than a thousand open requests there, whose time limits run meanwhile.
"""

from __future__ import annotations

import asyncio

from actors.errors import ConfigError
from actors.model.provider import ModelProvider, ModelReply, ModelRequest, TokenSink
from actors.model.wrapped import WrappedProvider


class LimitedProvider(WrappedProvider):
    """`inner` with at most `limit` calls of `generate` and `stream` at once, first come first served.

    Shared by all agents of a system. A call that is cancelled while it waits leaves the queue. The wait
    has no limit of its own: a turn's deadline ends it. `prepare` and `available` are not counted.
    """

    def __init__(self, inner: ModelProvider, limit: int) -> None:
        if limit < 1:
            raise ConfigError("limit", f"expected at least 1 call at once, got {limit!r}")
        super().__init__(inner)
        self._slots = asyncio.Semaphore(limit)

    async def generate(self, request: ModelRequest) -> ModelReply:
        """Wait for a slot, then as the provider within."""
        async with self._slots:
            return await self._inner.generate(request)

    async def stream(self, request: ModelRequest, on_token: TokenSink) -> ModelReply:
        """Wait for a slot, then as the provider within."""
        async with self._slots:
            return await self._inner.stream(request, on_token)
