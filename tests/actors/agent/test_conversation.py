"""The history between turns, and the working list of a turn."""

from __future__ import annotations

import msgspec
import pytest

from actors.agent.conversation import Conversation
from actors.errors import AgentBusy
from actors.model.message import ImagePart, Message, TextPart, ToolCall

HELLO = Message("user", "hello")
REPLY = Message("assistant", "hi")


def _played(*messages: Message, limit: int = 40) -> Conversation:
    conversation = Conversation()
    working = conversation.open_turn([HELLO])
    for message in messages:
        working.add(message)
    conversation.close_turn(limit)
    return conversation


def test_a_turn_works_on_the_history_and_the_new_messages() -> None:
    conversation = Conversation([HELLO, REPLY])
    working = conversation.open_turn([Message("user", "more")])
    assert working.messages == [HELLO, REPLY, Message("user", "more")]
    assert [msgspec.json.decode(raw) for raw in working.encoded] == [
        each.wire() for each in working.messages
    ]


def test_the_history_changes_only_when_the_turn_closes() -> None:
    conversation = Conversation()
    conversation.open_turn([HELLO]).add(REPLY)
    assert conversation.history() == []
    conversation.close_turn(40)
    assert conversation.history() == [HELLO, REPLY]


def test_a_message_that_stays_is_not_encoded_again() -> None:
    conversation = Conversation()
    first = conversation.open_turn([HELLO])
    first.add(REPLY)
    conversation.close_turn(40)
    second = conversation.open_turn([HELLO])
    assert second.encoded[0] is first.encoded[0]
    assert second.encoded[1] is first.encoded[1]


def test_a_message_that_is_stored_in_another_form_is_encoded_in_that_form() -> None:
    image = ImagePart("data:image/png;base64,AA==")
    conversation = Conversation()
    working = conversation.open_turn([Message("user", parts=(TextPart("look"), image))])
    working.add(Message("assistant", '{"tool":"echo"}'))
    working.add(Message("tool", "{}", name="echo"))
    conversation.close_turn(40)
    later = conversation.open_turn([HELLO])
    assert [msgspec.json.decode(raw) for raw in later.encoded[:3]] == [
        {"role": "user", "content": "look"},
        {"role": "assistant", "content": '{"tool":"echo"}'},
        {"role": "user", "content": "[Result from echo]: {}"},
    ]


def test_a_call_without_an_answer_is_not_stored() -> None:
    call = Message("assistant", tool_calls=(ToolCall("c1", "echo", "{}"),))
    assert _played(call).history() == [HELLO]


def test_only_the_newest_messages_are_kept() -> None:
    assert _played(REPLY, HELLO, REPLY, limit=2).history() == [HELLO, REPLY]
    assert len(_played(REPLY, HELLO, REPLY, limit=0).history()) == 4


def test_nothing_can_be_set_or_begun_during_a_turn() -> None:
    conversation = Conversation()
    conversation.open_turn([HELLO])
    assert conversation.in_turn
    for forbidden in (
        lambda: conversation.set_history([]),
        conversation.clear,
        lambda: conversation.open_turn([HELLO]),
    ):
        with pytest.raises(AgentBusy, match="while a turn runs"):
            forbidden()


def test_the_history_given_out_is_a_copy() -> None:
    conversation = Conversation([HELLO])
    conversation.history().clear()
    assert conversation.history() == [HELLO]


def test_a_copy_has_a_life_of_its_own() -> None:
    conversation = Conversation([HELLO])
    twin = conversation.copy()
    conversation.clear()
    assert twin.history() == [HELLO]
    assert conversation.history() == []


def test_set_history_drops_answers_without_calls() -> None:
    orphan = Message("tool", "{}", name="echo", tool_call_id="c1")
    assert Conversation([HELLO, orphan, REPLY]).history() == [HELLO, REPLY]
