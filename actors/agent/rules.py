"""What differs between the two ways to run a turn, as one value; the loop itself is the same.

`GAIA` is how `process_query` behaves (gaia 1.3 to 1.5), `VIX` how `run` does (vix 13). The step limit
is called `max_steps` in the one and `max_tool_rounds` in the other; in both it counts model calls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from msgspec import Struct

from actors.agent.clip import clip
from actors.agent.tool_result import error_of, result_text


def clipped_result(result: Any) -> str:
    """A tool's result as the model reads it under GAIA rules: compact JSON, clipped (gaia 1.6)."""
    return clip(result_text(result))


def plain_result(result: Any) -> str:
    """A tool's result as the model reads it under Vix rules: its text, or `Tool failed: ` and the error."""
    error = error_of(result)
    if error is not None:
        return f"Tool failed: {error}"
    return result if isinstance(result, str) else result_text(result)


class TurnRules(Struct, frozen=True):
    """How a turn behaves where the two seeds differ.

    * `model_attempts`: how often one step asks the model before the turn ends with `model_error`.
    * `recovers`: whether a failed tool makes the next step begin with a message that names the error
      and the task. Without it the tool's own message has to do.
    * `counts_plans`: whether more plans than `max_plan_iterations` bring a call for a final answer.
    * `stops_loops`: whether `max_consecutive_repeats` equal calls in a row end the turn.
    * `at_limit`: the result when the step limit is reached. `error_or_notice`: the error of the last
      tool if it failed, else a notice. `last_text`: whatever text the last reply held.
    * `tool_text`: turns a tool's result into the content of its message.
    * `answer_without_tools_after_result`: the step after tools ran without an error asks with no tools,
      and with the agent's own prompt alone. For models too small to answer while tools are offered; it
      allows one round of tools per turn, and another one only after an error.
    * `repeat_means_answer`: a call equal to the one before it is not run; the model is told so, and the
      next step asks with no tools. Takes the place of the loop rule. For small models, too.
    * `tool_grace_s`: seconds a running tool has to end by itself after a cancel, so that a tool which
      cancels its own turn still gets its result recorded. A deadline gives none.
    """

    model_attempts: int = 2
    recovers: bool = True
    counts_plans: bool = True
    stops_loops: bool = True
    at_limit: Literal["error_or_notice", "last_text"] = "error_or_notice"
    tool_text: Callable[[Any], str] = clipped_result
    answer_without_tools_after_result: bool = False
    repeat_means_answer: bool = False
    tool_grace_s: float = 0.25

    def repeat_limit(self, configured: int) -> int | None:
        """The R of the loop rule (gaia 1.4) under these rules; None where there is none."""
        if self.repeat_means_answer:
            return 2
        return configured if self.stops_loops else None


GAIA = TurnRules()
"""The rules of `process_query`."""

VIX = TurnRules(
    model_attempts=1,
    recovers=False,
    counts_plans=False,
    stops_loops=False,
    at_limit="last_text",
    tool_text=plain_result,
)
"""The rules of `run`."""
