"""The turn's own words: what it tells the model, and what it answers where the model did not.

Wordings that the seed fixes are marked with their source; the others may change.
"""

from __future__ import annotations

LOOP = "Task stopped due to repeated tool call loop."
"""The result when the loop rule stopped the turn (gaia 1.4, exact)."""

REPEATED = "not run: you asked for the same call twice in a row; answer now with what you know"
"""The result of a repeated call under rules where that means the model should answer."""

LOOP_WARNING = "the model repeats one tool call with the same arguments; the turn ends here"

RECOVERY_STATE = "error recovery: the model is told what failed and asked for another way"

ENOUGH_PLANS = (
    "You have planned long enough. Give your final answer now, with what you have found out so far."
)
"""Told to the model when it has sent more plans than the limit allows (gaia 1.3j)."""

ENVELOPE_REMINDER = (
    'Reply only with JSON: {"thought": "...", "goal": "...", "tool": "...", "tool_args": {...}}'
)
"""Reminds of the reply shape in error recovery, never under native tool calling (gaia 1.3c)."""


def recovery(error: str, task: str, *, remind: bool) -> str:
    """What the model is told after a tool failed (gaia 1.3c)."""
    lines = [
        "Tool execution failed. Please try an alternative approach.",
        f"Error: {error}",
        f"Original task: {task}",
        "Find out why it failed before you go on; do not repeat the same call unchanged.",
    ]
    if remind:
        lines.append(ENVELOPE_REMINDER)
    return "\n\n".join(lines)


def model_error(error: object) -> str:
    """The result when the model could not be used (gaia 1.3e, beginning exact)."""
    return f"Unable to complete task due to LLM error: {error}"


def retrying(error: object) -> str:
    """The warning between the two attempts of one step."""
    return f"the model call failed and is tried once more: {error}"


def not_ready(error: object) -> str:
    """The warning when the model could not be made ready; the turn goes on."""
    return f"the model could not be made ready: {error}"


def limit_reached(limit: int) -> str:
    """The result when there is no answer within the step limit."""
    return f"Stopped at the limit of {limit} step(s) without a final answer."


def cancelled(steps: int) -> str:
    """The result when the turn was cancelled; `steps` counts the one that was under way."""
    return f"Cancelled after {steps} step(s)."


def out_of_time(seconds: float, steps: int) -> str:
    """The result when the turn passed its deadline."""
    return f"Stopped at the deadline of {seconds:g} s after {steps} step(s)."


def unfinished_tool(reason: str | None) -> str:
    """The error of a tool that had been started when the turn was stopped."""
    why = "ran out of time" if reason == "deadline" else "was cancelled"
    return f"not ended when the turn {why}; whether it took effect is unknown"
