"""A session's ids, preview and JSON form."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from actors.errors import InvalidArgument, SessionError
from actors.model.message import ImagePart, Message, TextPart, ToolCall
from actors.sessions import Session, session_from_json, session_to_json
from actors.sessions.session import new_session_id, preview_of, require_session_id

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

TALK = (
    Message("user", "what is ünder the stage?"),
    Message("assistant", tool_calls=(ToolCall("c1", "look", '{"where": "under"}'),)),
    Message("tool", '"dust"', name="look", tool_call_id="c1"),
    Message("assistant", "Dust."),
)


def test_the_json_form_is_the_documented_one() -> None:
    form = json.loads(session_to_json(Session("s-1", AT, TALK)))
    assert (form["version"], form["id"], form["timestamp"]) == (1, "s-1", "2026-01-02T03:04:05Z")
    assert form["messages"][1] == {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "look", "arguments": '{"where": "under"}'},
            }
        ],
    }
    assert form["messages"][2]["tool_call_id"] == "c1"


def test_a_session_comes_back_from_json_as_it_was() -> None:
    session = Session("s_1", AT, TALK)
    assert session_from_json(session_to_json(session)) == session


def test_lists_of_parts_are_reduced_to_their_texts() -> None:
    parts = (TextPart("look"), ImagePart("data:image/png;base64,AA"), TextPart("closer"))
    session = Session("s", AT, (Message("user", parts=parts),))
    assert session_from_json(session_to_json(session)).messages == (
        Message("user", "look\ncloser"),
    )


def test_half_a_character_does_not_stop_it() -> None:
    said = session_from_json(session_to_json(Session("s", AT, (Message("user", "a\ud800"),))))
    assert said.messages[0].content == "a?"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "not"),
        ("[]", "list `messages`"),
        ('{"id": "a", "timestamp": "2026-01-01T00:00:00Z"}', "list `messages`"),
        (
            '{"id": "a", "timestamp": "2026-01-01T00:00:00Z", "messages": [{"role": "boss"}]}',
            "message 0.*'boss'",
        ),
        (
            '{"id": "a", "timestamp": "2026-01-01T00:00:00Z", "messages": [{"role": "user", "content": 3}]}',
            "content",
        ),
        (
            (
                '{"id": "a", "timestamp": "2026-01-01T00:00:00Z", "messages": '
                '[{"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f"}}]}]}'
            ),
            "tool call",
        ),
        ('{"id": "a/b", "timestamp": "2026-01-01T00:00:00Z", "messages": []}', "letters"),
        ('{"id": "a", "timestamp": "soon", "messages": []}', "timestamp"),
        ('{"version": 2, "id": "a", "messages": []}', "version 2"),
        (b"\xff", "not"),
    ],
)
def test_what_is_no_session_is_told(text: str | bytes, why: str) -> None:
    with pytest.raises(SessionError, match=why):
        session_from_json(text)


@pytest.mark.parametrize("id_", ["", "a/b", "..", "ü", "a b", "a\n", None])
def test_an_id_has_letters_digits_and_two_signs(id_: object) -> None:
    with pytest.raises(InvalidArgument):
        require_session_id(id_)


def test_new_ids_are_the_time_and_a_number() -> None:
    taken: set[str] = set()
    for expected in ("", "-2", "-3"):
        id_ = new_session_id(AT, taken.__contains__)
        assert id_ == f"session-20260102-030405{expected}"
        taken.add(id_)


@pytest.mark.parametrize(
    ("said", "shown"),
    [("short", "short"), ("x" * 100, "x" * 100), ("ü" * 101, "ü" * 97 + "...")],
)
def test_the_preview_is_the_first_thing_a_user_said(said: str, shown: str) -> None:
    talk = [Message("system", "be kind"), Message("user", said), Message("user", "more")]
    assert preview_of(talk) == shown
    assert preview_of(talk[:1]) == ""
