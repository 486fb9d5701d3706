"""What a model's reply means: an answer, calls, a plan, or nothing of these."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from actors.model.message import Message


class PlannedCall(Struct, frozen=True):
    """A tool call with its arguments decoded. `id` is None where the protocol has none."""

    name: str
    arguments: dict[str, Any]
    id: str | None = None


class Step(Struct, frozen=True):
    """A reply as a protocol read it.

    `message` is what enters the conversation, `text` the reply as the model wrote it. `answer` wins over
    `calls`; with neither, the text is the answer (gaia 1.3l). `plan` is kept as given. `native` says
    that the calls came as tool calls and not in an envelope.
    """

    message: Message
    text: str
    thought: str = ""
    goal: str = ""
    answer: str | None = None
    calls: tuple[PlannedCall, ...] = ()
    plan: Any = None
    native: bool = False
