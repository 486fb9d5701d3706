"""Runs to test with: settings, requests, a real store."""

from __future__ import annotations

from typing import Any

from actors.journal import Requested, RunSettings

SETTINGS = RunSettings(
    model="m",
    native_tool_calls=True,
    response_mode="planning",
    max_steps=20,
    max_plan_iterations=3,
    max_consecutive_repeats=4,
    max_history_messages=40,
    turn_timeout_s=None,
    answer_without_tools_after_result=False,
    repeat_means_answer=False,
)


def request(text: str = "do it") -> Requested:
    """A question, as the first event of its run."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": text}]
    return Requested(messages, [], SETTINGS)
