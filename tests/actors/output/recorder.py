"""A handler that keeps its calls, and the turns of gaia section 6 as events."""

from __future__ import annotations

from typing import Any

from actors.model.message import Usage
from actors.output.events import (
    AnswerGiven,
    GoalGiven,
    JsonShown,
    PlanGiven,
    ProgressStarted,
    ProgressStopped,
    StepStarted,
    ThoughtGiven,
    ToolChosen,
    ToolFinished,
    TurnEvent,
    TurnFinished,
    TurnStarted,
)
from actors.output.silent import SilentHandler

TOOL_STEP: tuple[TurnEvent, ...] = (
    StepStarted(1, 20),
    ProgressStarted("Thinking"),
    ProgressStopped(),
    ThoughtGiven("a sum"),
    GoalGiven("add them"),
    PlanGiven([{"tool": "add"}, "say it"]),
    ToolChosen("add"),
    JsonShown({"a": 12.5, "b": 30}, "Tool Args"),
    ProgressStarted("Executing add"),
    ProgressStopped(),
    ToolFinished("add"),
    JsonShown(42.5, "Tool Result"),
)

ANSWER_STEP: tuple[TurnEvent, ...] = (
    StepStarted(2, 20),
    ProgressStarted("Thinking"),
    ProgressStopped(),
    ThoughtGiven(""),
    GoalGiven(""),
    AnswerGiven("It is 42.5.", Usage(300, 12, 312)),
    TurnFinished(2, 20),
)

WHOLE_TURN = (TurnStarted("What is 12.5 plus 30?", 20, "small"), *TOOL_STEP, *ANSWER_STEP)


class Recorder(SilentHandler):
    """Keeps (method, arguments) of every call."""

    def __init__(self) -> None:
        super().__init__(silence_final_answer=True)
        self.calls: list[tuple[Any, ...]] = []

    @property
    def names(self) -> list[str]:
        """The methods called, in order."""
        return [call[0] for call in self.calls]

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith(("print_", "pretty_", "start_", "stop_")):
            return super().__getattribute__(name)
        return lambda *arguments: self.calls.append((name, *arguments))
