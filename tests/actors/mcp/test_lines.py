"""Bytes become lines, however they are cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.mcp.lines import Line, LineSplitter, TooLong

LIMIT = 8


def lines_of(*chunks: bytes, limit: int = LIMIT) -> list[Line]:
    """All lines of a stream that comes in these chunks."""
    splitter = LineSplitter(limit)
    return [line for chunk in chunks for line in splitter.feed(chunk)] + splitter.rest()


@pytest.mark.parametrize(
    ("stream", "lines"),
    [
        (b"", []),
        (b"a\nb\n", [b"a", b"b"]),
        (b"a\r\nb\r\n", [b"a", b"b"]),
        (b"\n\r\n \t\na\n\n", [b"a"]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", [b"a", b"\xef\xbb\xbfb"]),
        (b"\xef\xbb\xbf\na\n", [b"a"]),
        (b"a\rb\n", [b"a\rb"]),
        (b"a\nhalf", [b"a", b"half"]),
        (b"12345678\na\n", [b"12345678", b"a"]),
        (b"123456789\na\n", [TooLong(LIMIT, b"123456789"), b"a"]),
        (b"123456789", [TooLong(LIMIT, b"123456789")]),
    ],
)
def test_a_stream_is_cut_into_lines(stream: bytes, lines: list[Line]) -> None:
    assert lines_of(stream) == lines


@given(st.lists(st.sampled_from([b"a", b"bc", b"\n", b"\r\n", b" ", b"\xef\xbb\xbf", b"x" * 7])))
def test_any_chunks_give_the_same_lines(chunks: list[bytes]) -> None:
    stream = b"".join(chunks)

    def plain(lines: list[Line]) -> list[Line]:
        """How much of a line that is too long is shown depends on the chunks."""
        return [TooLong(LIMIT, b"") if isinstance(line, TooLong) else line for line in lines]

    whole = plain(lines_of(stream))
    assert plain(lines_of(*chunks)) == whole
    assert plain(lines_of(*(bytes([byte]) for byte in stream))) == whole


def test_a_line_that_is_too_long_is_told_once_and_before_its_end() -> None:
    splitter = LineSplitter(LIMIT)
    assert splitter.feed(b"x" * 9) == [TooLong(LIMIT, b"x" * 9)]
    assert splitter.feed(b"x" * 100) == []
    assert splitter.feed(b"x\nnext\n") == [b"next"]
    assert splitter.feed(b"y" * 9) == [TooLong(LIMIT, b"y" * 9)]


def test_twenty_megabytes_in_small_pieces_are_one_line() -> None:
    splitter = LineSplitter()
    piece = b"x" * (64 * 1024)
    for _ in range(320):
        assert splitter.feed(piece) == []
    (line,) = splitter.feed(b"\n")
    assert line == piece * 320
