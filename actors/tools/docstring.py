"""What a docstring says of a function and of its parameters: Google, NumPy and Sphinx style."""

from __future__ import annotations

import inspect
import re

_SECTION = re.compile(r"^(args|arguments|parameters|params):?\s*$", re.IGNORECASE)
_OTHER_SECTION = re.compile(
    r"^(returns|return|raises|yields|examples?|notes?|see also|attributes|warns|references):?\s*$",
    re.IGNORECASE,
)
_GOOGLE = re.compile(r"^\s+\*{0,2}(\w+)\s*(?:\(.*?\))?\s*:\s*(.*)$")
_NUMPY = re.compile(r"^(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?$")
_SPHINX = re.compile(r"^\s*:param(?:\s+[^:]*?)?\s+(\w+)\s*:\s*(.*)$")


def summary(docstring: str) -> str:
    """The first paragraph, on one line."""
    lines: list[str] = []
    for line in inspect.cleandoc(docstring).splitlines():
        if not line.strip() or _SECTION.match(line) or _SPHINX.match(line):
            break
        lines.append(line)
    return " ".join(" ".join(lines).split())


def parameter_texts(docstring: str) -> dict[str, str]:
    """What is said of each parameter, by its name."""
    lines = inspect.cleandoc(docstring).splitlines()
    texts = _sphinx(lines)
    for position, line in enumerate(lines):
        if _SECTION.match(line):
            underlined = position + 1 < len(lines) and set(lines[position + 1].strip()) == {"-"}
            texts |= _numpy(lines[position + 2 :]) if underlined else _google(lines[position + 1 :])
            break
    return {name: " ".join(text.split()) for name, text in texts.items()}


def _sphinx(lines: list[str]) -> dict[str, str]:
    texts: dict[str, str] = {}
    name = ""
    for line in lines:
        found = _SPHINX.match(line)
        if found is not None:
            name = found.group(1)
            texts[name] = found.group(2)
        elif name and line.startswith(" "):
            texts[name] += f" {line}"
        else:
            name = ""
    return texts


def _google(lines: list[str]) -> dict[str, str]:
    """Indented `name: text` or `name (type): text`, more deeply indented lines going on."""
    texts: dict[str, str] = {}
    indent, name = 0, ""
    for line in lines:
        if line.strip() and not line.startswith(" "):
            break
        depth = len(line) - len(line.lstrip())
        found = _GOOGLE.match(line)
        if found is not None and (not texts or depth <= indent):
            indent, name = depth, found.group(1)
            texts[name] = found.group(2)
        elif name:
            texts[name] += f" {line}"
    return texts


def _numpy(lines: list[str]) -> dict[str, str]:
    """`name : type` or `one, two : type` at the margin, the text indented below."""
    texts: dict[str, str] = {}
    names: list[str] = []
    for position, line in enumerate(lines):
        following = lines[position + 1] if position + 1 < len(lines) else ""
        if _OTHER_SECTION.match(line) or (line.strip() and set(following.strip()) == {"-"}):
            break
        if line.startswith(" "):
            texts |= {name: f"{texts[name]} {line}" for name in names}
        elif (found := _NUMPY.match(line)) is not None:
            names = [name.strip(" *") for name in found.group(1).split(",")]
            texts |= dict.fromkeys(names, "")
    return texts
