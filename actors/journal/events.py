"""What happens in a run, as the journal keeps it: one value for each thing that must be known after a crash.

Each is kept before the act it permits: the request before the model is asked, the model's reply before it is
obeyed, the start of a tool before the tool runs, the response before the caller gets it. Messages are in wire
form (`Message.wire`). Kinds and fields are a file format: a change of them is a new `VERSION`.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from actors.errors import JournalError
from actors.model.message import Usage
from actors.model.wire_json import encode_json

VERSION: Final = 1
"""Of the events of a run; a run of a newer one is neither shown nor resumed."""

RunOutcome = Literal[
    "answered", "limit", "loop", "cancelled", "deadline", "model_error", "failed", "abandoned"
]
"""How a run ended: as its turn did (see `TurnResult`), or

* `failed`: the turn raised an error, which its caller got.
* `abandoned`: it was unfinished after a crash, and was given up: by the policy `fail`, or by hand.
"""


class RunSettings(Struct, frozen=True, kw_only=True):
    """The settings that decide how a turn reads replies and when it ends: a resumed run keeps them."""

    model: str
    native_tool_calls: bool
    response_mode: Literal["planning", "conversational"]
    max_steps: int
    max_plan_iterations: int
    max_consecutive_repeats: int
    max_history_messages: int
    turn_timeout_s: float | None
    answer_without_tools_after_result: bool
    repeat_means_answer: bool


class _Event(Struct, frozen=True, tag_field="kind"):
    """Base of all."""


class Requested(_Event, frozen=True, tag="request"):
    """A caller asked: the messages, what had been said before, and the settings the turn goes by."""

    messages: list[dict[str, Any]]
    history: list[dict[str, Any]]
    settings: RunSettings


class ModelReplied(_Event, frozen=True, tag="model_reply"):
    """The model's reply as it came, not yet read."""

    text: str | None
    tool_calls: Any = ()
    usage: Usage | None = None
    complete: bool = True


class ModelFailed(_Event, frozen=True, tag="model_error"):
    """The model could not be asked. `final`: asking again could not help."""

    error: str
    final: bool = False


class ApprovalAsked(_Event, frozen=True, tag="approval_asked"):
    """Somebody is asked whether the call may run. `call` counts the calls of the run, from 1."""

    call: int
    tool: str
    args: Any


class ToolStarted(_Event, frozen=True, tag="tool_started"):
    """The tool runs from here on. `repeatable`: it may be run again if it is not known to have ended."""

    call: int
    tool: str
    args: Any
    repeatable: bool


class ToolFinished(_Event, frozen=True, tag="tool_finished"):
    """What came of the call; also of one that was refused, and so never started."""

    call: int
    tool: str
    args: Any
    result: Any


class Resumed(_Event, frozen=True, tag="resumed"):
    """The run goes on in another incarnation of its agent, or in another process."""


class Responded(_Event, frozen=True, tag="response"):
    """The turn ended by a rule; the fields are those of `TurnResult`."""

    result: str
    steps_taken: int
    steps_limit: int
    outcome: str
    usage: Usage | None = None


class RunFailed(_Event, frozen=True, tag="failed"):
    """The run ended without a result; why."""

    error: str


RunEvent = (
    Requested
    | ModelReplied
    | ModelFailed
    | ApprovalAsked
    | ToolStarted
    | ToolFinished
    | Resumed
    | Responded
    | RunFailed
)

_decoder = msgspec.json.Decoder(RunEvent)


def kind_of(event: RunEvent) -> str:
    """The kind under which it is kept."""
    return str(type(event).__struct_config__.tag)


def event_to_json(event: RunEvent) -> str:
    """The event as one line of JSON; halves of surrogate pairs become `?`."""
    return encode_json(event).decode()


def event_from_json(text: str, run: int, number: int) -> RunEvent:
    """The event. Raises JournalError: it cannot be read; names the run and its number."""
    try:
        return _decoder.decode(text)
    except msgspec.DecodeError as error:
        raise JournalError(f"event {number} of run {run} cannot be read: {error}") from error
