"""Whether a text can stand in a shell's command line as one word, unquoted (gaia 5). Pure.

A check for the last moment before a command line is made; where a program can be started with a list of
arguments instead, do that. It looks at single words only: one that begins with `-` passes, although the
program may take it as an option. Put `--` before words that come from a model.
"""

from __future__ import annotations

_SPECIAL = frozenset(" \t\n\r;|&<>$`\"'!{}()[]~*?#^%=\0")
"""What some shell reads as more than itself. No argument can hold the last one, NUL."""


def is_safe_shell_arg(text: str) -> bool:
    """False for an empty text and for one with a character that means something to a shell.

    A backslash is allowed: paths of Windows have it.
    """
    return bool(text) and _SPECIAL.isdisjoint(text)
