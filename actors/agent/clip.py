"""Shortening of long tool results before a model reads them (gaia 1.6).

Cuts between characters, never inside one, so what is left can always be encoded.
"""

from __future__ import annotations

LONGEST = 4000
"""Characters up to which a text is left alone."""

HEAD, TAIL = 2000, 1500
"""Characters kept of the beginning and of the end of a longer one."""

MARKER = "\n...[truncated]...\n"
"""Stands where the middle was."""


def clip(text: str) -> str:
    """The text itself, or its first 2000 and last 1500 characters around a marker."""
    if len(text) <= LONGEST:
        return text
    return f"{text[:HEAD]}{MARKER}{text[-TAIL:]}"
