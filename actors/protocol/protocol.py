"""The seam between a turn and a way of speaking to a model about tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol as Seam

from msgspec import Raw

from actors.model.provider import ModelReply
from actors.model.toolspec import ToolSpec
from actors.protocol.step import Step


class Protocol(Seam):
    """How tools are offered to a model and how its reply is read. Pure: no state, no I/O."""

    @property
    def native(self) -> bool:
        """Whether calls travel as the API's own tool calls."""

    def build(self, own_prompt: str, tools: Sequence[ToolSpec]) -> tuple[str, Raw | None]:
        """The whole system prompt, and the encoded `tools` array or None to send none.

        Raises:
            ToolSchemaError: a tool cannot be described this way; names it.
        """

    def read(self, reply: ModelReply) -> Step:
        """What a reply means.

        Raises:
            ModelReplyError: it is no reply (no text and no calls, or a stream that broke off).
            ToolCallError: a tool call in it cannot be read; `final` if asking again cannot help.
        """
