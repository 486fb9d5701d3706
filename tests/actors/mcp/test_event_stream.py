"""Server-sent events by WHATWG's rules, in every split of the bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.mcp.event_stream import EventStream, EventTooLong, ServerEvent


def decoded(*chunks: bytes) -> list[ServerEvent]:
    """The events in these chunks."""
    stream = EventStream()
    return [event for chunk in chunks for event in stream.feed(chunk)]


@pytest.mark.parametrize(
    ("text", "events"),
    [
        (b"data: a\n\n", [ServerEvent(b"a")]),
        (b"data: a\r\n\r\n", [ServerEvent(b"a")]),
        (b"data: a\r\r", [ServerEvent(b"a")]),
        (b"data: a\r\ndata: b\r\rdata: c\n\r\n", [ServerEvent(b"a\nb"), ServerEvent(b"c")]),
        (b"data:a\n\n", [ServerEvent(b"a")]),
        (b"data:  a \n\n", [ServerEvent(b" a ")]),
        (b"data\n\n", [ServerEvent(b"")]),
        (b"data\ndata\n\n", [ServerEvent(b"\n")]),
        (b"data: a: b\n\n", [ServerEvent(b"a: b")]),
        (b"event: ping\ndata: a\n\ndata: b\n\n", [ServerEvent(b"a", "ping"), ServerEvent(b"b")]),
        (b"event: ping\n\ndata: b\n\n", [ServerEvent(b"b")]),
        (b"id: 1\nretry: 500\ndata: \n\n", [ServerEvent(b"", id="1", retry_ms=500)]),
        (b"id: 1\n\n", [ServerEvent(b"", id="1")]),
        (b"retry: 20\n\n", [ServerEvent(b"", retry_ms=20)]),
        (b"id\ndata: a\n\n", [ServerEvent(b"a", id="")]),
        (b"id: a\0b\ndata: a\n\n", [ServerEvent(b"a")]),
        ("id: \u00e9\ndata: \u4e16\n\n".encode(), [ServerEvent("世".encode(), id="é")]),
        (b"retry: 1.5\ndata: a\n\n", [ServerEvent(b"a")]),
        (b"retry: -1\ndata: a\n\n", [ServerEvent(b"a")]),
        (b"retry:\ndata: a\n\n", [ServerEvent(b"a")]),
        ("retry: \u0661\ndata: a\n\n".encode(), [ServerEvent(b"a")]),
        (b"retry: " + b"9" * 9000 + b"\n\n", [ServerEvent(b"", retry_ms=10**18 - 1)]),
        (b": hello\n\n:\n\ndata: a\n: b\n\n", [ServerEvent(b"a")]),
        (b"\n\n\n", []),
        (b"other: 1\nDATA: a\n data: b\n\n", []),
        (b"data: a\n\ndata: cut off", [ServerEvent(b"a")]),
        (b"data: a\n\ndata: cut off\n", [ServerEvent(b"a")]),
        (b"\xef\xbb\xbfdata: a\n\n", [ServerEvent(b"a")]),
        (b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n", []),
        (b"\xefdata: a\n\ndata: b\n\n", [ServerEvent(b"b")]),
        (b"data: \xef\xbb\xbf\n\n", [ServerEvent(b"\xef\xbb\xbf")]),
    ],
)
def test_the_rules_hold_whole_and_byte_by_byte(text: bytes, events: list[ServerEvent]) -> None:
    assert decoded(text) == events
    assert decoded(*(text[at : at + 1] for at in range(len(text)))) == events


_pieces = st.sampled_from(
    [
        *(
            b"data: a",
            b"data:",
            b"data",
            b"id: 7",
            b"id: \0",
            b"retry: 9",
            b"event: x",
            b":",
            b": c",
        ),
        *(b"\n", b"\r", b"\r\n", b"\n\n", b"\r\r", b"\xef\xbb\xbf", b"\xef", "é".encode(), b" "),
    ]
)


@given(st.lists(_pieces, max_size=40).map(b"".join), st.lists(st.integers(0, 200), max_size=20))
def test_any_split_gives_the_same_events(text: bytes, cuts: list[int]) -> None:
    places = sorted(min(cut, len(text)) for cut in cuts)
    starts, ends = [0, *places], [*places, len(text)]
    chunks = [text[start:end] for start, end in zip(starts, ends, strict=True)]
    assert decoded(*chunks) == decoded(text)


def test_an_event_that_is_too_long_is_an_error_before_it_ends() -> None:
    stream = EventStream(limit_bytes=100)
    with pytest.raises(EventTooLong, match="longer than 100 bytes"):
        for _ in range(20):
            stream.feed(b"data: 123")


def test_data_in_many_lines_counts_as_one_event() -> None:
    stream = EventStream(limit_bytes=100)
    with pytest.raises(EventTooLong):
        for _ in range(20):
            stream.feed(b"data: 123\n")


def test_the_limit_is_that_of_one_event_and_comments_do_not_count() -> None:
    stream = EventStream(limit_bytes=100)
    for _ in range(20):
        stream.feed(b": still there\n")
        stream.feed(b"data: 123\n\n" * 20)


def test_twenty_megabytes_in_small_pieces_are_one_event() -> None:
    stream = EventStream()
    events = stream.feed(b"data: ")
    for _ in range(20_000):
        events += stream.feed(b"x" * 1000)
    events += stream.feed(b"\n\n")
    assert [len(event.data) for event in events] == [20_000_000]
