"""Requests to end an incarnation, and which of two counts."""

from __future__ import annotations

from typing import Any, Literal

Verdict = Literal["final", "ask", "hold"]


class Exit:
    """A request to end the present incarnation.

    `verdict`: `final` (stopped from outside), `ask` (the supervisor decides by `reason`), `hold` (the
    supervisor will restart it by itself). `after`: how many waiting messages are handled first; below
    zero the running one is bounded too.
    """

    __slots__ = ("after", "reason", "verdict")

    def __init__(self, reason: Any, verdict: Verdict, after: int = -1) -> None:
        self.reason = reason
        self.verdict = verdict
        self.after = after


def stronger(first: Exit, second: Exit) -> Exit:
    """Which of two requests counts: final before hold before ask; among equals the sooner one."""
    rank = {"final": 2, "hold": 1, "ask": 0}
    if rank[first.verdict] != rank[second.verdict]:
        strong, weak = (
            (first, second) if rank[first.verdict] > rank[second.verdict] else (second, first)
        )
        return Exit(
            _worse(strong.reason, weak.reason), strong.verdict, min(first.after, second.after)
        )
    return first if first.after <= second.after else second


def _worse(strong: Any, weak: Any) -> Any:
    """A failure stays the reason of an end that was asked for afterwards."""
    return (
        weak
        if isinstance(weak, BaseException) and not isinstance(strong, BaseException)
        else strong
    )
