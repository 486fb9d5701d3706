"""Conversations that outlive their agent."""

from __future__ import annotations

from actors.sessions.session import Session, SessionSummary, session_from_json, session_to_json
from actors.sessions.sessions import Sessions

__all__ = ["Session", "SessionSummary", "Sessions", "session_from_json", "session_to_json"]
