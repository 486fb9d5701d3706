"""Runs that survive the death of their process."""

from __future__ import annotations

from actors.journal.events import (
    ApprovalAsked,
    ModelFailed,
    ModelReplied,
    Requested,
    Responded,
    Resumed,
    RunEvent,
    RunFailed,
    RunOutcome,
    RunSettings,
    ToolFinished,
    ToolStarted,
)
from actors.journal.journal import Journal
from actors.journal.run_rows import KeptEvent, RunInfo

__all__ = [
    "ApprovalAsked",
    "Journal",
    "KeptEvent",
    "ModelFailed",
    "ModelReplied",
    "Requested",
    "Responded",
    "Resumed",
    "RunEvent",
    "RunFailed",
    "RunInfo",
    "RunOutcome",
    "RunSettings",
    "ToolFinished",
    "ToolStarted",
]
