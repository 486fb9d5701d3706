"""What may be asked, and how it is said in one line."""

from __future__ import annotations

import pytest

from actors.agent.query import require_content, summary_of
from actors.errors import InvalidArgument
from actors.model.message import ImagePart, Message, TextPart

IMAGE = ImagePart("data:image/png;base64,AA==")


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [Message("user", "")],
        [Message("user"), Message("assistant")],
        [Message("user", parts=(TextPart(""),))],
    ],
)
def test_messages_that_say_nothing_are_refused(messages: list[Message]) -> None:
    with pytest.raises(InvalidArgument, match=r"at least one message|only empty ones"):
        require_content(messages)


@pytest.mark.parametrize(
    "messages",
    [
        [Message("user", ""), Message("user", "hello")],
        [Message("user", " ")],
        [Message("user", parts=(IMAGE,))],
        [Message("user", parts=(TextPart(""), TextPart("x")))],
    ],
)
def test_one_message_with_something_in_it_is_enough(messages: list[Message]) -> None:
    require_content(messages)


@pytest.mark.parametrize(
    ("messages", "summary"),
    [
        ([Message("user", "first"), Message("user", "last")], "last"),
        ([Message("user", "asked"), Message("assistant", "said")], "asked"),
        ([Message("assistant", ""), Message("assistant", "said")], "said"),
        ([Message("user", parts=(TextPart("a"), IMAGE, TextPart("b"), IMAGE))], "a b [2 image(s)]"),
        ([Message("user", parts=(TextPart("a"), TextPart("b")))], "a b"),
    ],
)
def test_the_summary_is_the_last_user_message(messages: list[Message], summary: str) -> None:
    assert summary_of(messages) == summary
