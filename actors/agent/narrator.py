"""Tells what happens in a turn, as events, to whoever listens (gaia 1.3, 1.7, 6).

Without a listener no event is made. A plainly streamed turn says thought, goal and answer by its tokens
already, so these three events are left out unless structured events are wanted.
"""

from __future__ import annotations

from typing import Any

from actors.model.message import Usage
from actors.output.events import (
    AnswerGiven,
    ErrorNoted,
    EventSink,
    GoalGiven,
    JsonShown,
    PlanGiven,
    ProgressStarted,
    ProgressStopped,
    PromptSent,
    ReplyReceived,
    StateNoted,
    StepStarted,
    StreamEnded,
    ThoughtGiven,
    TokenReceived,
    ToolChosen,
    ToolFinished,
    TurnFinished,
    TurnStarted,
    WarningNoted,
)


class Narrator:
    """See the module. An exception of the sink passes through and ends the turn."""

    __slots__ = ("_sink", "_streaming", "_tokens", "_words")

    def __init__(self, sink: EventSink | None, *, streaming: bool, structured: bool) -> None:
        self._sink = sink
        self._streaming = streaming
        self._words = sink if structured or not streaming else None
        self._tokens = False

    def turn_started(self, query: str, limit: int, model: str) -> None:
        """The turn begins."""
        if self._sink is not None:
            self._sink(TurnStarted(query, limit, model))

    def step_started(self, number: int, limit: int) -> None:
        """A step begins."""
        if self._sink is not None:
            self._sink(StepStarted(number, limit))

    def state_noted(self, text: str) -> None:
        """The turn changed its state."""
        if self._sink is not None:
            self._sink(StateNoted(text))

    def prompt_sent(self, text: str) -> None:
        """What the system prompt of this step is."""
        if self._sink is not None:
            self._sink(PromptSent(text))

    def model_asked(self, text: str) -> None:
        """A wait for the model begins; a streamed one shows itself by its tokens."""
        if self._sink is not None and not self._streaming:
            self._sink(ProgressStarted(text))

    def token(self, text: str) -> None:
        """A piece of a streamed reply came."""
        if self._sink is not None:
            self._tokens = True
            self._sink(TokenReceived(text))

    def model_done(self) -> None:
        """The wait for the model ended, well or not."""
        if self._sink is None:
            return
        if not self._streaming:
            self._sink(ProgressStopped())
        elif self._tokens:
            self._tokens = False
            self._sink(StreamEnded())

    def reply_received(self, text: str) -> None:
        """What the model wrote."""
        if self._sink is not None:
            self._sink(ReplyReceived(text))

    def thought(self, text: str) -> None:
        """What the model thinks."""
        if self._words is not None:
            self._words(ThoughtGiven(text))

    def goal(self, text: str) -> None:
        """What the model wants to reach."""
        if self._words is not None:
            self._words(GoalGiven(text))

    def plan(self, plan: Any) -> None:
        """What the model proposes."""
        if self._sink is not None:
            self._sink(PlanGiven(plan))

    def tool_started(self, name: str, arguments: dict[str, Any]) -> None:
        """A tool begins to run, or its result is waited for next."""
        if self._sink is not None:
            self._sink(ToolChosen(name))
            self._sink(JsonShown(arguments, "Tool Args"))
            self._sink(ProgressStarted(f"Executing {name}"))

    def tool_finished(self, name: str, result: Any) -> None:
        """The tool has its result."""
        if self._sink is not None:
            self._sink(ProgressStopped())
            self._sink(ToolFinished(name))
            self._sink(JsonShown(result, "Tool Result"))

    def answer(self, text: str, usage: Usage | None) -> None:
        """The model's final answer."""
        if self._words is not None:
            self._words(AnswerGiven(text, usage))

    def warning(self, text: str) -> None:
        """Something went wrong; the turn goes on, or ends by a rule."""
        if self._sink is not None:
            self._sink(WarningNoted(text))

    def error(self, text: str) -> None:
        """The turn cannot go on."""
        if self._sink is not None:
            self._sink(ErrorNoted(text))

    def turn_finished(self, steps: int, limit: int) -> None:
        """The turn is over."""
        if self._sink is not None:
            self._sink(TurnFinished(steps, limit))
