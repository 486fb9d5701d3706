"""The answer to a request for a stream, whatever it turns out to be and however it is cut."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from actors.errors import ModelReplyError
from actors.model.provider import ModelReply
from actors.model.streamed_reply import StreamedReply

STREAM = (
    'data: {"choices":[{"delta":{"content":"é"}}]}\n\n'
    'data: {"choices":[{"delta":{"content":"b"}}],"usage":{"total_tokens":3}}\n\n'
    "data: [DONE]\n\n"
).encode()
PLAIN = b'{"choices":[{"message":{"content":"plain"}}]}'
ERROR = b'data: {"error":{"message":"full"}}\n\n'


def cut(data: bytes, size: int) -> Iterator[bytes]:
    return (data[start : start + size] for start in range(0, len(data), size))


def read(data: bytes, size: int) -> tuple[ModelReply, list[str]]:
    reading = StreamedReply()
    tokens = [token for piece in cut(data, size) for token in reading.feed(piece)]
    return reading.reply(), tokens


@pytest.mark.parametrize("data", [STREAM, PLAIN])
def test_every_cut_gives_the_same_reply_and_tokens(data: bytes) -> None:
    whole = read(data, len(data))
    assert all(read(data, size) == whole for size in range(1, len(data)))


def test_tokens_are_the_text() -> None:
    reply, tokens = read(STREAM, 7)
    assert (reply.text, tokens, reply.complete) == ("éb", ["é", "b"], True)
    assert reply.usage is not None
    assert reply.usage.total_tokens == 3


@pytest.mark.parametrize("size", range(1, len(ERROR) + 1))
def test_an_error_event_is_told_whatever_the_cut(size: int) -> None:
    with pytest.raises(ModelReplyError, match="full"):
        read(ERROR, size)


def test_text_before_an_error_event_is_kept_and_not_complete() -> None:
    reply, _ = read(STREAM.partition(b"data: [DONE]")[0] + ERROR, 1000)
    assert (reply.text, reply.complete) == ("éb", False)
