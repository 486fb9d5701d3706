"""The prompt protocol: tools described in the system prompt, calls read out of JSON in the reply (gaia 3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Raw

from actors.errors import ModelReplyError
from actors.model.message import Message
from actors.model.provider import ModelReply
from actors.model.toolspec import ToolSpec
from actors.protocol.prompt import compose_prompt
from actors.protocol.recovery import parse_response
from actors.protocol.step import PlannedCall, Step
from actors.protocol.templates import CONVERSATIONAL, PLANNING


class PromptJson:
    """The protocol for models without tool calls. `mode` chooses the reply format that is asked for."""

    native = False

    def __init__(self, mode: Literal["planning", "conversational"] = "planning") -> None:
        self._template = CONVERSATIONAL if mode == "conversational" else PLANNING

    def build(self, own_prompt: str, tools: Sequence[ToolSpec]) -> tuple[str, Raw | None]:
        """The prompt with tools and reply format; nothing is sent natively."""
        return compose_prompt(own_prompt, tools, self._template), None

    def read(self, reply: ModelReply) -> Step:
        """The envelope in the text, whatever calls were volunteered beside it (gaia 2.3)."""
        if reply.text is None:
            raise ModelReplyError("the model's reply has no text: expected a string 'content'")
        envelope = parse_response(reply.text)
        calls: tuple[PlannedCall, ...] = ()
        if envelope.tool is not None:
            calls = (PlannedCall(envelope.tool, envelope.tool_args or {}),)
        return Step(
            Message("assistant", reply.text),
            reply.text,
            thought=envelope.thought,
            goal=envelope.goal,
            answer=envelope.answer,
            calls=calls,
            plan=envelope.plan,
        )
