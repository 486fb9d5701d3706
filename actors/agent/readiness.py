"""Whether the agent's model has been made ready: once per agent, until it succeeds (gaia 1.3, 9.3)."""

from __future__ import annotations

from actors.errors import AgentError
from actors.model.provider import ModelProvider


class ModelReadiness:
    """Remembers a success. A change of model or provider takes a new one."""

    __slots__ = ("_ready",)

    def __init__(self) -> None:
        self._ready = False

    @property
    def needed(self) -> bool:
        """Whether `ensure` would ask the provider."""
        return not self._ready

    async def ensure(
        self, provider: ModelProvider, model: str, context_size: int
    ) -> AgentError | None:
        """Make the model ready; the error if it could not be, which is only worth a warning.

        `context_size` is in tokens.
        """
        try:
            await provider.prepare(model, context_size)
        except AgentError as error:
            return error
        self._ready = True
        return None
