"""A model provider whose calls end when the test says so, for tests of what wraps a provider."""

from __future__ import annotations

import asyncio

from actors.errors import ModelError
from actors.model.provider import ModelReply, ModelRequest, TokenSink


class GatedProvider:
    """Calls are known by the model they name; `answer` and `fail` may come before or after the call."""

    name = "gated"
    local = True

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.prepared: list[tuple[str, int]] = []
        self._gates: dict[str, asyncio.Future[ModelReply]] = {}

    def answer(self, call: str) -> None:
        """Let a call answer with its own name."""
        self._gate(call).set_result(ModelReply(call))

    def fail(self, call: str, error: ModelError) -> None:
        """Let a call fail."""
        self._gate(call).set_exception(error)

    async def available(self) -> bool:
        return True

    async def prepare(self, model: str, context_size: int) -> None:
        self.prepared.append((model, context_size))

    async def generate(self, request: ModelRequest) -> ModelReply:
        self.begun.append(request.model)
        return await self._gate(request.model)

    async def stream(self, request: ModelRequest, on_token: TokenSink) -> ModelReply:
        reply = await self.generate(request)
        on_token(reply.text or "")
        return reply

    def _gate(self, call: str) -> asyncio.Future[ModelReply]:
        if call not in self._gates:
            self._gates[call] = asyncio.get_running_loop().create_future()
        return self._gates[call]
