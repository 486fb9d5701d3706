"""Chunks: where a text is cut, what is repeated, and that nothing is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.errors import InvalidArgument
from actors.memory.chunking import ChunkOptions, chunk_text


def texts(text: str, size: int, overlap: int = 0) -> list[str]:
    """The chunks' texts."""
    return [chunk.text for chunk in chunk_text(text, ChunkOptions(size=size, overlap=overlap))]


def test_a_text_that_fits_is_one_chunk_without_blanks_around_it() -> None:
    (chunk,) = chunk_text(" \n the stage\n")
    assert (chunk.text, chunk.start) == ("the stage", 3)


@pytest.mark.parametrize("text", ["", " \n\t "])
def test_a_blank_text_has_no_chunks(text: str) -> None:
    assert chunk_text(text) == []


def test_sections_are_kept_whole_if_there_are_four() -> None:
    text = "# A\none. Two\n# B\nthree\n---\nfour\n\nFifth title\nfive"
    assert texts(text, 5) == ["# A\none. Two", "# B\nthree\n---\nfour", "Fifth title\nfive"]


def test_fewer_than_four_sections_are_cut_at_paragraphs() -> None:
    text = "# A\naa aa aa\n\nbb bb\n# B\ncc\n\ndd dd dd dd"
    assert texts(text, 7) == ["# A\naa aa aa\n\nbb bb\n# B\ncc", "dd dd dd dd"]


@pytest.mark.parametrize("title", ["lower case", "Ends with a point.", "X" * 100, "Why?"])
def test_not_every_line_is_a_title(title: str) -> None:
    text = "\n\n".join(f"{title}\ntext" for _ in range(6))
    chunks = texts(text, (len(title) + 8) // 4 * 2)
    assert len(chunks) < 6


def test_long_paragraphs_are_cut_after_sentences() -> None:
    text = "We met Dr. Who at noon. It was late! Was it J. S. Bach? yes. No"
    assert texts(text, 7) == [
        "We met Dr. Who at noon.",
        "It was late!",
        "Was it J. S. Bach? yes. No",
    ]


def test_long_sentences_are_cut_after_words_and_long_words_where_they_are_full() -> None:
    assert texts("aaa bbb ccc ddd", 2) == ["aaa bbb", "ccc ddd"]
    assert texts("abcdefghij", 1) == ["abcd", "efgh", "ij"]


def test_the_next_chunk_begins_with_the_last_whole_words() -> None:
    assert texts("aaa bbb ccc ddd eee", 3, 1) == ["aaa bbb ccc", "ccc ddd eee"]
    assert texts("aaa bbbbbbbb ccc", 3, 1) == ["aaa bbbbbbbb", "ccc"]


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (-1, 0), (5, 5), (5, -1), (5, 6)])
def test_sizes_that_cannot_be_are_refused(size: int, overlap: int) -> None:
    with pytest.raises(InvalidArgument, match="chunk"):
        ChunkOptions(size=size, overlap=overlap)


ALPHABET = st.sampled_from(
    [*"aZ.!?, \n#-=_é", "Dr. ", "\n\n", "---\n", "# T\n", "\N{GRINNING FACE}"]
)


@given(text=st.lists(ALPHABET, max_size=200).map("".join), size=st.integers(1, 9), data=st.data())
def test_every_character_is_in_a_chunk_and_no_chunk_is_too_long(
    text: str, size: int, data: st.DataObject
) -> None:
    overlap = data.draw(st.integers(0, size - 1))
    seen, last_start = [False] * len(text), -1
    for chunk in chunk_text(text, ChunkOptions(size=size, overlap=overlap)):
        end = chunk.start + len(chunk.text)
        assert 0 < len(chunk.text) <= size * 4
        assert chunk.text == text[chunk.start : end] == chunk.text.strip()
        assert chunk.start > last_start
        assert seen[chunk.start : end].count(True) <= overlap * 4
        seen[chunk.start : end] = [True] * len(chunk.text)
        last_start = chunk.start
    assert all(seen[at] or letter.isspace() for at, letter in enumerate(text))


@pytest.mark.parametrize("piece", ["a", "a ", ". A", "\n", "\n\nA", "# ", "---\n", "Dr. A", " "])
def test_a_long_text_of_anything_is_cut_in_time(piece: str) -> None:
    text = piece * 300_000
    chunks = chunk_text(text)
    assert all(len(chunk.text) <= 2_000 for chunk in chunks)
