"""Placeholders in a text: `${NAME}` and `${env:NAME}` stand for environment variables. Pure.

What cannot be replaced is refused: a server must not start with a placeholder for its credential. For that
reason other notations (`${input:...}`, `${NAME:-default}`) are refused too. `$${` stands for `${` itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from actors.errors import MCPRegistryError

_PLACEHOLDER = re.compile(r"(?P<literal>\$\$\{)|\$\{(?P<inside>[^}]*)(?P<end>\}?)")
_VARIABLE = re.compile(r"(?:env:)?([A-Za-z_][A-Za-z0-9_]*)")


def expand(text: str, environ: Mapping[str, str]) -> str:
    """The text with the variables' values, which are not looked into again; an empty value is a value.

    Raises:
        MCPRegistryError: a variable is not set, or a placeholder is of another notation. The message
            names the variable; it never has the rest of the text, which may be a secret.
    """
    return _PLACEHOLDER.sub(lambda found: _value(found, environ), text)


def _value(found: re.Match[str], environ: Mapping[str, str]) -> str:
    if found["literal"]:
        return "${"
    if not found["end"]:
        raise MCPRegistryError("has '${' without its '}'; write '$${' for '${' itself")
    variable = _VARIABLE.fullmatch(found["inside"])
    if variable is None:
        start = re.match(r"\w*", found["inside"])
        raise MCPRegistryError(
            f"has a placeholder '${{{start[0] if start else ''}...}}' that is neither '${{NAME}}' nor "
            "'${env:NAME}'; write '$${' for '${' itself"
        )
    value = environ.get(variable[1])
    if value is None:
        raise MCPRegistryError(f"needs the environment variable {variable[1]!r}, which is not set")
    return value
