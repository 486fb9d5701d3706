"""`chunk_text`: a text as pieces small enough to be embedded and shown to a model (gaia part 2).

A chunk is a slice of the text. It ends, in this order of preference, at the last beginning of a section that it
can hold, of a paragraph, after the last sentence, after the last word, or where it is full. The next one begins
with the last words of the one before, so that what stands around a cut is found from both sides.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from actors.errors import InvalidArgument

CHARACTERS_PER_TOKEN: Final = 4

_FEWEST_SECTIONS: Final = 4
_TITLE_LENGTH: Final = 100

_RULE = re.compile(r"\s*(?:-{3,}|={3,}|_{3,})\s*\Z")
_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")
_SENTENCE = re.compile(r"[.!?]\s+(?=[A-Z])")
_WORD = re.compile(r"\S+")
_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|Sr|Jr|St|vs|etc|Inc|Ltd|Co|Corp|No|Fig|Vol|pp|e\.g|i\.e|cf|approx)"
    r"|\b[A-Z])\.\Z"
)
_LONGEST_ABBREVIATION: Final = 8


class ChunkOptions(Struct, frozen=True, kw_only=True):
    """How a text is cut, in tokens of four characters: at most `size`, of which `overlap` are repeated.

    Raises InvalidArgument: `size` is not above 0, or `overlap` is negative or not below `size`.
    """

    size: int = 500
    overlap: int = 100

    def __post_init__(self) -> None:
        if self.size <= 0:
            raise InvalidArgument(f"chunk size is {self.size}, expected more than 0")
        if not 0 <= self.overlap < self.size:
            raise InvalidArgument(
                f"chunk overlap is {self.overlap}, expected 0 or more and less than the size, {self.size}"
            )


class Chunk(Struct, frozen=True):
    """A piece of a text, without blanks around it; `start` is where in the text it begins."""

    text: str
    start: int


_DEFAULT = ChunkOptions()


def chunk_text(text: str, options: ChunkOptions = _DEFAULT) -> list[Chunk]:
    """The chunks of a text, in order; none if it is blank.

    Whatever is not blank is in a chunk. The time it takes grows with the length of the text, whatever it holds.
    """
    size = options.size * CHARACTERS_PER_TOKEN
    overlap = options.overlap * CHARACTERS_PER_TOKEN
    words = [(match.start(), match.end()) for match in _WORD.finditer(text)]
    if not words:
        return []
    starts = [start for start, _ in words]
    cuts = _cuts(text, [end for _, end in words])
    chunks, start, covered, last = [], starts[0], 0, words[-1][1]
    while covered < last:
        end = _end(start, covered, min(start + size, last), cuts) if start + size < last else last
        chunks.append(Chunk(text[start:end].rstrip(), start))
        covered = end
        start = _start(text, starts, max(covered - overlap, start + 1), covered)
    return chunks


def _cuts(text: str, word_ends: Sequence[int]) -> tuple[Sequence[int], ...]:
    """Where the text may be cut, by kind, the best first; each in order."""
    sections = list(_sections(text))
    if len(sections) < _FEWEST_SECTIONS:
        sections = []
    return (
        sections,
        [match.end() for match in _PARAGRAPH.finditer(text)],
        list(_sentence_ends(text)),
        word_ends,
    )


def _end(start: int, covered: int, limit: int, cuts: tuple[Sequence[int], ...]) -> int:
    """The last of the best cuts that leave something new in the chunk."""
    for positions in cuts:
        found = bisect_right(positions, limit)
        if found and positions[found - 1] > max(start, covered):
            return positions[found - 1]
    return limit


def _start(text: str, starts: Sequence[int], wanted: int, covered: int) -> int:
    """Where a word begins, at or after what is wanted, and no later than what is not covered yet."""
    found = bisect_left(starts, wanted)
    if found < len(starts) and starts[found] < covered:
        return starts[found]
    following = bisect_left(starts, covered)
    inside_a_word = covered < len(text) and not text[covered].isspace()
    return covered if inside_a_word or following == len(starts) else starts[following]


def _sections(text: str) -> Iterator[int]:
    """Where sections begin: at headings, rules and lines that look like titles; and at the beginning."""
    lines = text.splitlines(keepends=True)
    position = 0
    for number, line in enumerate(lines):
        before = lines[number - 1] if number else ""
        after = lines[number + 1] if number + 1 < len(lines) else ""
        if (
            number == 0
            or line.startswith("#")
            or _RULE.match(line)
            or _is_title(before, line, after)
        ):
            yield position
        position += len(line)


def _is_title(before: str, line: str, after: str) -> bool:
    title = line.strip()
    return (
        0 < len(title) < _TITLE_LENGTH
        and title[0].isupper()
        and not before.strip()
        and bool(after.strip())
        and title[-1] not in ".!?,;"
    )


def _sentence_ends(text: str) -> Iterator[int]:
    for match in _SENTENCE.finditer(text):
        point = match.start() + 1
        if not _ABBREVIATION.search(text, max(point - _LONGEST_ABBREVIATION, 0), point):
            yield match.end()
