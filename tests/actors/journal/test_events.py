"""The events of a run as text, and back."""

from __future__ import annotations

import pytest

from actors.errors import JournalError
from actors.journal import (
    ApprovalAsked,
    ModelFailed,
    ModelReplied,
    Responded,
    Resumed,
    RunEvent,
    RunFailed,
    ToolFinished,
    ToolStarted,
)
from actors.journal.events import event_from_json, event_to_json, kind_of
from actors.model.message import Usage
from tests.actors.journal.kept import request

CALL = [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{"}}]

EVENTS: list[tuple[str, RunEvent]] = [
    ("request", request("héllo 🎭")),
    ("model_reply", ModelReplied("hi", CALL, Usage(1, 2, 3), complete=False)),
    ("model_reply", ModelReplied(None)),
    ("model_error", ModelFailed("gone", final=True)),
    ("approval_asked", ApprovalAsked(1, "f", {"a": [1, None]})),
    ("tool_started", ToolStarted(1, "f", {}, repeatable=True)),
    ("tool_finished", ToolFinished(1, "f", {}, {"status": "error"})),
    ("resumed", Resumed()),
    ("response", Responded("done", 2, 20, "answered", Usage(1, 2, 3))),
    ("failed", RunFailed("boom")),
]


@pytest.mark.parametrize(("kind", "event"), EVENTS)
def test_an_event_comes_back_as_it_was(kind: str, event: RunEvent) -> None:
    text = event_to_json(event)
    assert kind_of(event) == kind
    assert "\n" not in text
    assert event_to_json(event_from_json(text, 1, 1)) == text
    assert type(event_from_json(text, 1, 1)) is type(event)


def test_half_a_surrogate_pair_has_no_utf8_form_and_is_kept_as_a_question_mark() -> None:
    text = event_to_json(ModelReplied("a\ud800b"))
    assert event_from_json(text, 1, 1) == ModelReplied("a?b", [])


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"kind": "nothing_known"}', '{"kind": "failed"}', '{"error": "x"}']
)
def test_what_is_no_event_is_named_by_run_and_number(text: str) -> None:
    with pytest.raises(JournalError, match="event 7 of run 3 cannot be read"):
        event_from_json(text, 3, 7)
