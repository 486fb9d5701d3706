"""Finding a JSON envelope in what a model wrote: pure functions, linear in the text (gaia 3.2).

Six strategies in order, the first success wins: the whole text; a fenced block; the first balanced
object; a repaired syntax; single fields; the text itself as the answer. Models write anything, so nothing
here raises but the strict validator, no input takes more than linear time, and JSON nested deeper than
`DEPTH_LIMIT` counts as unreadable: whoever walks or encodes what was read has room left on his stack.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from actors.errors import ModelReplyError

BLANKS = " \t\r\n"

EMPTY_REPLY = "The model returned an empty reply. Please try again, or ask in another way."
"""The answer that stands for a reply without a word."""


DEPTH_LIMIT = 100
"""The deepest nesting of JSON that is read; an envelope with a plan needs five."""


class Envelope(Struct, frozen=True):
    """What a reply says. `tool_args` is there whenever `tool` is."""

    thought: str = ""
    goal: str = ""
    answer: str | None = None
    tool: str | None = None
    tool_args: dict[str, Any] | None = None
    plan: Any = None


def parse_response(text: str) -> Envelope:
    """Read a reply; never raises."""
    stripped = text.strip(BLANKS)
    if not stripped:
        return Envelope(answer=EMPTY_REPLY)
    found = parse_object(stripped)
    if found is None:
        found = _embedded(stripped)
    if found is None:
        found = parse_object(fix_errors(stripped))
    if found is not None:
        return _from_object(found)
    return _from_fields(stripped) or Envelope(answer=stripped)


def parse_object(text: str) -> dict[str, Any] | None:
    """The JSON object the text is, or None."""
    if is_too_deep(text):
        return None
    try:
        value = msgspec.json.decode(text.strip(BLANKS).encode("utf-8", "surrogatepass"))
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None
    return value if isinstance(value, dict) else None


def is_too_deep(text: str) -> bool:
    """Whether JSON text is nested deeper than `DEPTH_LIMIT`."""
    if text.count("{") + text.count("[") <= DEPTH_LIMIT:
        return False
    depth = 0
    for token in _BRACKETS.finditer(text):
        mark = token.group()
        depth += (mark in "{[") - (mark in "}]")
        if depth > DEPTH_LIMIT:
            return True
    return False


def extract_object(text: str) -> dict[str, Any] | None:
    """The object in a fence or in mixed text, `tool_args` filled in; None if there is none."""
    found = _embedded(text)
    return None if found is None else _with_arguments(found)


def validate(text: str) -> dict[str, Any]:
    """The envelope, strictly: `thought` beside `answer` or `tool`; `tool_args` filled in.

    Raises ModelReplyError naming what is missing.
    """
    found = parse_object(text) or _embedded(text) or parse_object(fix_errors(text))
    if found is None:
        raise ModelReplyError("expected a JSON object in the reply, found none")
    if "answer" not in found and "tool" not in found:
        raise ModelReplyError("the reply's JSON has neither 'answer' nor 'tool'")
    if "thought" not in found:
        raise ModelReplyError("the reply's JSON has no 'thought' beside its 'answer' or 'tool'")
    return _with_arguments(found)


# -- fences and mixed text --------------------------------------------------------------------------

_OPENERS = re.compile(r"```(?:json|JSON)?[ \t]*\r?\n?|<json>|`json\b")


def _embedded(text: str) -> dict[str, Any] | None:
    for block in _fenced_blocks(text):
        found = parse_object(block)
        if found is not None and _is_envelope(found):
            return found
    found = parse_object(first_object(text))
    return found if found is not None and _is_envelope(found) else None


def _fenced_blocks(text: str) -> Iterator[str]:
    """The contents of fences, each character looked at once."""
    position = 0
    while (opener := _OPENERS.search(text, position)) is not None:
        mark = opener.group()
        closer = "</json>" if mark == "<json>" else "```" if mark.startswith("```") else "`"
        end = text.find(closer, opener.end())
        if end < 0:
            return
        yield text[opener.end() : end]
        position = end + len(closer)


def _is_envelope(found: dict[str, Any]) -> bool:
    return isinstance(found.get("tool"), str) or "answer" in found


def first_object(text: str) -> str:
    """The first balanced `{...}`, strings and escapes honoured; "" if there is none."""
    start = text.find("{")
    if start < 0:
        return ""
    end = _balanced_end(text, start)
    return "" if end < 0 else text[start:end]


# A string without an end takes the rest of the text. The possessive quantifiers never step back: with
# others, a text of nothing but \" costs the square of its length.
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?+'
_STRUCTURE = re.compile(rf"{_STRING}|[{{}}]", re.DOTALL)
_BRACKETS = re.compile(rf"{_STRING}|[{{}}\[\]]", re.DOTALL)


def _balanced_end(text: str, start: int) -> int:
    """The position after the brace that closes the one at `start`, or -1."""
    depth = 0
    for token in _STRUCTURE.finditer(text, start):
        if token.group() == "{":
            depth += 1
        elif token.group() == "}":
            depth -= 1
            if depth == 0:
                return token.end()
    return -1


# -- repair -----------------------------------------------------------------------------------------

_TRAILING_COMMA = re.compile(rf"({_STRING})|,\s*+(?=[}}\]])", re.DOTALL)


def fix_errors(text: str) -> str:
    """Mend what models get wrong: text before the JSON, single quotes, trailing commas, missing closers.

    Single quotes become double ones only if the text has no double quote. Nothing inside a string is
    touched.
    """
    starts = [at for at in (text.find("{"), text.find("[")) if at >= 0]
    if not starts:
        return text
    body = text[min(starts) :]
    if '"' not in body:
        body = body.replace("'", '"')
    body = _TRAILING_COMMA.sub(lambda found: found.group(1) or "", body)
    return body + _missing_closers(body)


def _missing_closers(text: str) -> str:
    open_brackets: list[str] = []
    for token in _BRACKETS.finditer(text):
        mark = token.group()
        if mark in "{[":
            open_brackets.append("}" if mark == "{" else "]")
        elif mark in "}]" and open_brackets and open_brackets[-1] == mark:
            open_brackets.pop()
    return "".join(reversed(open_brackets))


# -- fields -----------------------------------------------------------------------------------------


def _field(name: str, text: str) -> str | None:
    found = re.search(rf'"{name}"\s*:\s*"([^"]*)"', text)
    return None if found is None else found.group(1)


def _from_fields(text: str) -> Envelope | None:
    thought = _field("thought", text) or ""
    answer = _field("answer", text)
    if answer is not None:
        return Envelope(thought=thought, answer=answer)
    tool = _field("tool", text)
    if tool is None:
        return None
    arguments: dict[str, Any] | None = None
    label = re.search(r'"tool_args"\s*:\s*(?=\{)', text)
    if label is not None:
        end = _balanced_end(text, label.end())
        arguments = None if end < 0 else parse_object(text[label.end() : end])
    return Envelope(thought=thought, tool=tool, tool_args=arguments or {})


def _from_object(found: dict[str, Any]) -> Envelope:
    tool = found.get("tool")
    named = tool if isinstance(tool, str) else None
    arguments = found.get("tool_args")
    return Envelope(
        thought=_text(found.get("thought")),
        goal=_text(found.get("goal")),
        answer=_answer(found.get("answer")),
        tool=named,
        tool_args=(arguments if isinstance(arguments, dict) else {}) if named is not None else None,
        plan=found.get("plan"),
    )


def _with_arguments(found: dict[str, Any]) -> dict[str, Any]:
    if "tool" in found and "tool_args" not in found:
        return {**found, "tool_args": {}}
    return found


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _answer(value: Any) -> str | None:
    """A string as it is, null as absent, everything else as its compact JSON."""
    if value is None or isinstance(value, str):
        return value
    return msgspec.json.encode(value).decode()
