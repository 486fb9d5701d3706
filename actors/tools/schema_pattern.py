"""Regular expressions that strangers wrote: which may be tried on which texts, judged before they are tried.

A server chooses the `pattern`, a model the text, and Python's `re` neither has a time limit nor lets other
threads run meanwhile: `^(a+)+$` and thirty letters would stop every agent of the process. So a bound of the
ways in which a pattern can be tried on a text is worked out first. What may take more than `WAYS_LIMIT`, and
what is beyond the plain part of the syntax that JavaScript and Python share (look-around, back references,
`\\p{...}`), is not tried here: the server checks its arguments itself.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from msgspec import Struct

WAYS_LIMIT: Final = 100_000
"""Most ways to try; some milliseconds."""

PATTERN_LIMIT: Final = 1000
"""Characters of the longest pattern that is judged."""

_NESTING = 20
_CLASS = re.compile(r"\[\^?(?:[^\[\]\\]|\\.)+\]")
_CLASS_OF_THE_FUTURE = re.compile(r"--|&&|\|\||~~")  # Python warns of these
_REPEAT = re.compile(r"[*+?]|\{(\d{1,4})(,(\d{0,4}))?\}")
_PLAIN_ESCAPE = re.compile(r"\\(?:[dDwWsSbBfnrtv]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[^0-9A-Za-z])")


class Effort(Struct, frozen=True):
    """In how many ways something can be tried on n characters: at most `fixed` times n to the power `power`."""

    fixed: int = 1
    power: int = 0

    def then(self, other: Effort) -> Effort:
        """The effort of both in a row."""
        return Effort(self.fixed * other.fixed, self.power + other.power)

    def ways(self, length: int) -> int:
        """In how many ways so many characters can be tried."""
        ways: int = self.fixed * max(length, 1) ** self.power
        return ways

    def within_limit(self, length: int) -> bool:
        """Whether it may be tried on so many characters."""
        return self.ways(length) <= WAYS_LIMIT


NO_CHOICE: Final = Effort()


class JudgedPattern(Struct, frozen=True):
    """A pattern that may be tried where its effort allows."""

    expression: re.Pattern[str]
    effort: Effort

    def refuses(self, text: str) -> bool:
        """Whether the text certainly does not match; False also if it may not be tried."""
        return self.effort.within_limit(len(text)) and self.expression.search(text) is None


@lru_cache(maxsize=1024)
def judged(pattern: str) -> JudgedPattern | None:
    """The pattern with its effort, or None if it cannot be judged."""
    try:
        effort = _Reader(pattern).effort()
        expression = re.compile(pattern)
    except (ValueError, re.error, RecursionError, OverflowError):
        return None
    return JudgedPattern(expression, effort)


class _Reader:
    """Reads a pattern from left to right. Raises ValueError for what it does not judge."""

    def __init__(self, pattern: str) -> None:
        if len(pattern) > PATTERN_LIMIT:
            raise ValueError("too long")
        self._text = pattern
        self._at = 0

    def effort(self) -> Effort:
        """Of the whole pattern, at all places of a text unless it is bound to the beginning."""
        found, branches = self._alternatives(0)
        if self._at < len(self._text):
            raise ValueError("a bracket too many")
        bound = branches == 1 and self._text.startswith("^")
        return found if bound else found.then(Effort(power=1))

    def _alternatives(self, nesting: int) -> tuple[Effort, int]:
        if nesting > _NESTING:
            raise ValueError("too many brackets")
        efforts = [self._sequence(nesting)]
        while self._text[self._at : self._at + 1] == "|":
            self._at += 1
            efforts.append(self._sequence(nesting))
        together = Effort(sum(each.fixed for each in efforts), max(each.power for each in efforts))
        return together, len(efforts)

    def _sequence(self, nesting: int) -> Effort:
        found = NO_CHOICE
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            found = found.then(self._repeated(self._atom(nesting)))
        return found

    def _atom(self, nesting: int) -> Effort:
        """One character, class, anchor or group."""
        match self._text[self._at]:
            case "(":
                return self._group(nesting)
            case "[":
                whole = _CLASS.match(self._text, self._at)
                if whole is None or _CLASS_OF_THE_FUTURE.search(whole.group()):
                    raise ValueError("an odd class")
            case "\\":
                whole = _PLAIN_ESCAPE.match(self._text, self._at)
                if whole is None:
                    raise ValueError("an odd escape")
            case "*" | "+" | "?":
                raise ValueError("nothing to repeat")
            case _:
                self._at += 1
                return NO_CHOICE
        self._at = whole.end()
        return NO_CHOICE

    def _group(self, nesting: int) -> Effort:
        self._at += 1
        if self._text.startswith("?:", self._at):
            self._at += 2
        elif self._text.startswith("?", self._at):
            raise ValueError("an odd group")
        found, _ = self._alternatives(nesting + 1)
        if self._text[self._at : self._at + 1] != ")":
            raise ValueError("a bracket too few")
        self._at += 1
        return found

    def _repeated(self, one: Effort) -> Effort:
        """The effort with what stands behind the atom: choices inside a repetition multiply without end."""
        repeat = _REPEAT.match(self._text, self._at)
        if repeat is None:
            return one
        self._at = repeat.end()
        follower = self._text[self._at : self._at + 1]
        if follower == "?":
            self._at += 1
        elif follower in ("+", "*", "{"):
            raise ValueError("a repeated repetition")
        if repeat.group() == "?":
            return Effort(one.fixed + 1, one.power)
        if one != NO_CHOICE:
            raise ValueError("choices inside a repetition")
        most = repeat.group(3) if repeat.group(2) else repeat.group(1)
        return Effort(max(int(most), 1)) if most else Effort(power=1)
