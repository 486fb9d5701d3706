"""What of a turn is kept, and that calls and answers stay in pairs."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.agent.history import repair_pairs, stored_form, to_stored_history, trim
from actors.model.message import ImagePart, Message, TextPart, ToolCall

USER = Message("user", "hello")


def asks(*ids: str, content: str = "") -> Message:
    """The model calls a tool."""
    return Message("assistant", content, tool_calls=tuple(ToolCall(each, "t") for each in ids))


def answers(identity: str) -> Message:
    """A tool answers."""
    return Message("tool", "done", name="t", tool_call_id=identity)


def test_whole_pairs_are_left_alone() -> None:
    messages = [USER, asks("a", "b"), answers("b"), answers("a"), Message("assistant", "so")]
    assert repair_pairs(messages) == messages


@pytest.mark.parametrize(
    ("broken", "repaired"),
    [
        ([asks("a")], []),
        ([asks("a", content="hm")], [Message("assistant", "hm")]),
        ([asks("a", "b"), answers("b")], [asks("b"), answers("b")]),
        ([answers("a"), USER], [USER]),
        ([answers("a"), asks("a")], []),
        ([answers("a"), asks("a"), answers("a")], [asks("a"), answers("a")]),
        ([Message("tool", "done", name="t")], []),
        ([Message("assistant")], [Message("assistant")]),
        ([asks("a"), USER, answers("a")], [asks("a"), USER, answers("a")]),
    ],
    ids=[
        "a call without an answer leaves an empty message",
        "a call without an answer leaves the text",
        "one of two calls is answered",
        "an answer nobody asked for",
        "an answer before its call",
        "an answer before its call and one after it",
        "an answer without an id",
        "an empty reply without calls is no broken pair",
        "a message stands between",
    ],
)
def test_broken_pairs_are_repaired(broken: list[Message], repaired: list[Message]) -> None:
    assert repair_pairs(broken) == repaired


def test_an_id_that_a_server_uses_again_belongs_to_the_latest_call() -> None:
    messages = [asks("call_0"), answers("call_0"), USER, asks("call_0", content="hm")]
    assert repair_pairs(messages) == [*messages[:3], Message("assistant", "hm")]


def test_a_call_left_open_is_not_answered_by_the_answer_to_a_later_one_of_its_id() -> None:
    messages = [asks("call_0"), USER, asks("call_0"), answers("call_0")]
    assert repair_pairs(messages) == messages[1:]


def test_the_newest_messages_are_kept_and_all_with_zero() -> None:
    messages = [Message("user", str(number)) for number in range(5)]
    assert trim(messages, 2) == messages[3:]
    assert trim(messages, 9) == messages
    assert trim(messages, 0) == messages


def test_a_pair_that_trimming_cuts_goes_as_a_whole() -> None:
    messages = [USER, asks("a", "b"), answers("a"), answers("b"), Message("assistant", "so")]
    assert to_stored_history(messages, 2) == messages[4:]


def test_images_are_not_kept() -> None:
    parts = (TextPart("a"), ImagePart("data:image/png;base64,AA=="), TextPart("b"))
    assert stored_form(Message("user", parts=parts)) == Message("user", "a\nb")
    assert stored_form(Message("user", parts=parts[1:2])) == Message("user", "")


def test_a_result_without_call_id_is_told_by_the_user() -> None:
    stored = stored_form(Message("tool", "42", name="add"))
    assert stored == Message("user", "[Result from add]: 42")


def test_a_native_result_is_kept_as_it_is() -> None:
    answer = answers("a")
    assert stored_form(answer) is answer


messages = st.lists(
    st.sampled_from([USER, Message("assistant", "so"), Message("tool", "x", name="t")])
    | st.lists(st.sampled_from("abc"), min_size=1, max_size=3, unique=True).map(lambda i: asks(*i))
    | st.sampled_from("abc").map(answers)
)


@given(messages, st.integers(0, 6))
def test_what_is_kept_has_only_whole_pairs(working: list[Message], limit: int) -> None:
    kept = to_stored_history(working, limit)
    open_ids: set[str] = set()
    for message in kept:
        open_ids.update(call.id for call in message.tool_calls)
        assert message.role != "tool" or message.tool_call_id in open_ids
    assert _calls_answered_after_them(kept)
    assert limit == 0 or len(kept) <= limit


@given(messages, st.integers(0, 6))
def test_keeping_twice_changes_nothing(working: list[Message], limit: int) -> None:
    kept = to_stored_history(working, limit)
    assert to_stored_history(kept, limit) == kept


def _calls_answered_after_them(kept: Sequence[Message]) -> bool:
    return all(
        any(later.tool_call_id == call.id for later in kept[position + 1 :])
        for position, message in enumerate(kept)
        for call in message.tool_calls
    )
