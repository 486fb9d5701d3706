"""A model provider with a record before it: replies that are known are given again, others are asked for and kept."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from actors.errors import AgentError, LocalModelError, ToolCallError
from actors.journal.events import ModelFailed, ModelReplied
from actors.journal.run_record import RunRecord
from actors.model.provider import ModelProvider, ModelReply, ModelRequest, TokenSink
from actors.model.wrapped import WrappedProvider


class RecordedModel(WrappedProvider):
    """A `ModelProvider` for one run. Raises JournalError where a reply cannot be kept."""

    def __init__(self, inner: ModelProvider, record: RunRecord) -> None:
        super().__init__(inner)
        self._record = record

    async def generate(self, request: ModelRequest) -> ModelReply:
        """The reply that is known, or a new one."""
        return self._known() or await self._kept(self._inner.generate(request))

    async def stream(self, request: ModelRequest, on_token: TokenSink) -> ModelReply:
        """The reply that is known, without tokens, or a new one."""
        return self._known() or await self._kept(self._inner.stream(request, on_token))

    def _known(self) -> ModelReply | None:
        match self._record.next_reply():
            case ModelReplied(text, tool_calls, usage, complete):
                return ModelReply(text, tool_calls, usage, complete)
            case ModelFailed(error, final):
                raise ToolCallError(error, final=final)
        return None

    async def _kept(self, asking: Coroutine[Any, Any, ModelReply]) -> ModelReply:
        try:
            await self._record.go_live()
            reply = await asking
        except AgentError as error:
            await self._record.append(ModelFailed(str(error), isinstance(error, LocalModelError)))
            raise
        finally:
            asking.close()
        await self._record.append(
            ModelReplied(reply.text, reply.tool_calls, reply.usage, reply.complete)
        )
        return reply
