"""The states of a turn and the table of its transitions. No I/O: values to values.

    PLANNING --tools_ran--> PLANNING
    PLANNING --tool_failed--> ERROR_RECOVERY --error_told--> PLANNING
    any --ended--> COMPLETION

A signal that the table does not have is a bug of the loop and raises `KeyError`.
"""

from __future__ import annotations

from enum import Enum
from typing import Literal

from actors.protocol.step import Step


class TurnState(Enum):
    """Where a turn stands (gaia 1.1).

    * `PLANNING`: the model is asked what to do next.
    * `ERROR_RECOVERY`: the last tool failed, and the model has not been told so yet.
    * `COMPLETION`: the turn has its result.
    * `EXECUTING_PLAN`, `DIRECT_EXECUTION`: names the seed has and never enters; plans are shown, not run.
    """

    PLANNING = "planning"
    EXECUTING_PLAN = "executing_plan"
    DIRECT_EXECUTION = "direct_execution"
    ERROR_RECOVERY = "error_recovery"
    COMPLETION = "completion"


Signal = Literal["tools_ran", "tool_failed", "error_told", "ended"]

_NEXT: dict[tuple[TurnState, Signal], TurnState] = {
    (TurnState.PLANNING, "tools_ran"): TurnState.PLANNING,
    (TurnState.PLANNING, "tool_failed"): TurnState.ERROR_RECOVERY,
    (TurnState.ERROR_RECOVERY, "error_told"): TurnState.PLANNING,
    (TurnState.PLANNING, "ended"): TurnState.COMPLETION,
    (TurnState.ERROR_RECOVERY, "ended"): TurnState.COMPLETION,
}


def advance(state: TurnState, signal: Signal) -> TurnState:
    """The state that follows."""
    return _NEXT[state, signal]


Move = Literal["answer", "call", "repeat_reply"]
"""What a turn does with a reply.

* `answer`: end with the answer the model gave.
* `call`: run the calls it asks for.
* `repeat_reply`: it gave neither; the raw reply is the answer.
"""


def move_for(step: Step) -> Move:
    """What to do with a reply; an answer wins over calls (gaia 1.3i-l)."""
    if step.answer is not None:
        return "answer"
    return "call" if step.calls else "repeat_reply"
