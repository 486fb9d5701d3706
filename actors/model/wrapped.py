"""What providers around another provider have in common: they are called and found as the one within."""

from __future__ import annotations

from actors.model.provider import ModelProvider


class WrappedProvider:
    """Everything but the asking, passed on to `inner`. A wrapper adds `generate` and `stream`."""

    def __init__(self, inner: ModelProvider) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        """The name of the provider within."""
        return self._inner.name

    @property
    def local(self) -> bool:
        """Whether the model runs on this machine."""
        return self._inner.local

    async def available(self) -> bool:
        """As the provider within."""
        return await self._inner.available()

    async def prepare(self, model: str, context_size: int) -> None:
        """As the provider within."""
        await self._inner.prepare(model, context_size)
