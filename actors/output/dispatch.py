"""From the events of a turn to the calls of an output handler: a table, one row per event.

Events are values that anything may collect; handlers are what people write. This is the only place that
knows both. It adds nothing, leaves out nothing and keeps the order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from actors.output.events import (
    AnswerGiven,
    ErrorNoted,
    EventSink,
    GoalGiven,
    InfoNoted,
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
    TurnEvent,
    TurnFinished,
    TurnStarted,
    WarningNoted,
)
from actors.output.handler import OutputHandler

# Any: a row takes the event of its own key, which the type of a mapping cannot say.
CALLS: Mapping[type[TurnEvent], Callable[[OutputHandler, Any], None]] = {
    TurnStarted: lambda to, e: to.print_processing_start(e.query, e.step_limit, e.model),
    StepStarted: lambda to, e: to.print_step_header(e.number, e.limit),
    StateNoted: lambda to, e: to.print_state_info(e.text),
    ThoughtGiven: lambda to, e: to.print_thought(e.text),
    GoalGiven: lambda to, e: to.print_goal(e.text),
    PlanGiven: lambda to, e: to.print_plan(e.plan, e.current_step),
    ToolChosen: lambda to, e: to.print_tool_usage(e.name),
    ToolFinished: lambda to, e: to.print_tool_complete(),  # noqa: ARG005  a call has no name
    JsonShown: lambda to, e: to.pretty_print_json(e.data, e.title),
    ErrorNoted: lambda to, e: to.print_error(e.text),
    WarningNoted: lambda to, e: to.print_warning(e.text),
    InfoNoted: lambda to, e: to.print_info(e.text),
    ProgressStarted: lambda to, e: to.start_progress(e.text),
    ProgressStopped: lambda to, e: to.stop_progress(),  # noqa: ARG005  nothing to tell
    TokenReceived: lambda to, e: to.print_stream_token(e.text),
    StreamEnded: lambda to, e: to.print_stream_end(),  # noqa: ARG005  nothing to tell
    PromptSent: lambda to, e: to.print_prompt(e.text),
    ReplyReceived: lambda to, e: to.print_response(e.text),
    AnswerGiven: lambda to, e: to.print_final_answer(e.text, e.usage),
    TurnFinished: lambda to, e: to.print_completion(e.steps, e.limit),
}
"""Which method of a handler an event calls. A test holds it against `TurnEvent`."""


def publish_to(handler: OutputHandler) -> EventSink:
    """A sink that calls `handler` for every event, in the publisher's thread.

    What the handler raises passes through to the publisher.
    """

    def publish(event: TurnEvent) -> None:
        CALLS[type(event)](handler, event)

    return publish
