"""What a turn ends with: the text for the caller, the steps it took, and how it ended.

A turn that fails by a rule (limit, loop, cancel, deadline, model error) is a result like any other and
never an exception (gaia 1.3); `outcome` says which, so that nobody has to read it out of the text.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from actors.model.message import Usage

Outcome = Literal["answered", "limit", "loop", "cancelled", "deadline", "model_error"]
"""How a turn ended.

* `answered`: the model gave an answer.
* `limit`: no answer within the step limit.
* `loop`: the model asked for the same call again and again.
* `cancelled`: somebody asked for the end.
* `deadline`: the turn ran out of its time.
* `model_error`: the model could not be asked, or its reply could not be read.
"""


class TurnResult(Struct, frozen=True):
    """The end of one turn.

    `result` is the answer, or the notice that says why there is none. `usage` sums what the servers
    reported, None where they reported nothing.
    """

    result: str
    steps_taken: int
    steps_limit: int
    outcome: Outcome
    usage: Usage | None = None

    def to_dict(self) -> dict[str, Any]:
        """The result as the seed spells it (gaia 1.3): `usage` only when its total is above zero."""
        out: dict[str, Any] = {
            "result": self.result,
            "steps_taken": self.steps_taken,
            "steps_limit": self.steps_limit,
        }
        if self.usage is not None and self.usage.total_tokens > 0:
            out["usage"] = {
                "prompt_tokens": self.usage.prompt_tokens,
                "completion_tokens": self.usage.completion_tokens,
                "total_tokens": self.usage.total_tokens,
            }
        return out
