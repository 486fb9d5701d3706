"""What happens in a turn, as values. The turn publishes them; handlers print, count or send them on.

Order of one tool step: StepStarted, ProgressStarted, ProgressStopped, ThoughtGiven, GoalGiven,
[PlanGiven], ToolChosen, JsonShown("Tool Args"), ProgressStarted, ProgressStopped, ToolFinished,
JsonShown("Tool Result"). Order of a one-step answer: TurnStarted, StepStarted, ProgressStarted,
ProgressStopped, ThoughtGiven, GoalGiven, AnswerGiven, TurnFinished (gaia section 6).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from actors.model.message import Usage


class TurnStarted(Struct, frozen=True):
    """A turn begins. `query` is the last user message's text, or its text parts and `[N image(s)]`."""

    query: str
    step_limit: int
    model: str


class StepStarted(Struct, frozen=True):
    """Step `number` (from 1) of at most `limit` begins."""

    number: int
    limit: int


class StateNoted(Struct, frozen=True):
    """The turn changed its state, in words (error recovery begins)."""

    text: str


class ThoughtGiven(Struct, frozen=True):
    """The model said what it thinks."""

    text: str


class GoalGiven(Struct, frozen=True):
    """The model said what it wants to reach."""

    text: str


class PlanGiven(Struct, frozen=True):
    """The model proposed a plan. `current_step` is -1: plans are shown, never executed."""

    plan: Any
    current_step: int = -1


class ToolChosen(Struct, frozen=True):
    """The model named a tool; it runs next."""

    name: str


class ToolFinished(Struct, frozen=True):
    """The tool ended, well or not; the result follows as JsonShown."""

    name: str


class JsonShown(Struct, frozen=True):
    """A JSON value worth showing: `Tool Args` or `Tool Result`."""

    data: Any
    title: str = ""


class ErrorNoted(Struct, frozen=True):
    """The turn cannot go on."""

    text: str


class WarningNoted(Struct, frozen=True):
    """Something went wrong and the turn goes on, or ends early by a rule."""

    text: str


class InfoNoted(Struct, frozen=True):
    """Something worth knowing."""

    text: str


class ProgressStarted(Struct, frozen=True):
    """A wait begins (`Thinking`, `Executing <tool>`)."""

    text: str


class ProgressStopped(Struct, frozen=True):
    """The wait ended."""


class TokenReceived(Struct, frozen=True):
    """A piece of a streamed reply."""

    text: str


class StreamEnded(Struct, frozen=True):
    """The streamed reply is whole. Sent only if a token came."""


class PromptSent(Struct, frozen=True):
    """The system prompt of this step (only with `show_prompts`)."""

    text: str


class ReplyReceived(Struct, frozen=True):
    """The raw reply of this step (only with `show_prompts`)."""

    text: str


class AnswerGiven(Struct, frozen=True):
    """The final answer. `usage` is the turn's total so far, None where no server said."""

    text: str
    usage: Usage | None = None


class TurnFinished(Struct, frozen=True):
    """The turn is over after `steps` of at most `limit`."""

    steps: int
    limit: int


TurnEvent = (
    TurnStarted
    | StepStarted
    | StateNoted
    | ThoughtGiven
    | GoalGiven
    | PlanGiven
    | ToolChosen
    | ToolFinished
    | JsonShown
    | ErrorNoted
    | WarningNoted
    | InfoNoted
    | ProgressStarted
    | ProgressStopped
    | TokenReceived
    | StreamEnded
    | PromptSent
    | ReplyReceived
    | AnswerGiven
    | TurnFinished
)

EventSink = Callable[[TurnEvent], None]
