"""Names of tools: which registered one is meant by a name, and what a tool of an MCP server is called here."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256
from typing import Final

NAME_LIMIT: Final = 64
"""Characters of the longest name that model servers take (gaia 2.2)."""

_HASH_LENGTH = 8
_NOT_TAKEN = re.compile(r"[^A-Za-z0-9_-]")


def is_sendable(name: str) -> bool:
    """Whether model servers take the name as that of a tool (gaia 2.2)."""
    return 0 < len(name) <= NAME_LIMIT and _NOT_TAKEN.search(name) is None


def exposed_name(server: str, tool: str) -> str:
    """`mcp_<server>_<tool>` (gaia 7), changed only where model servers would not take it (gaia 2.2).

    Characters other than ASCII letters, digits, `_` and `-` become `_`, and what is over `NAME_LIMIT` is
    cut. A name that had to change ends in `_` and eight hexadecimal digits made of both names, so that
    `a.b` and `a_b` stay two tools, today and tomorrow. Names that need no change can still be equal: tool
    `c` of server `a_b` and tool `b_c` of server `a`. The registry then takes the first (`ToolExists`).
    """
    plain = f"mcp_{server}_{tool}"
    taken = _NOT_TAKEN.sub("_", plain)
    if taken == plain and len(plain) <= NAME_LIMIT:
        return plain
    digest = sha256(f"{server}\0{tool}".encode("utf-8", "surrogatepass")).hexdigest()
    return f"{taken[: NAME_LIMIT - _HASH_LENGTH - 1]}_{digest[:_HASH_LENGTH]}"


def resolve_name(wanted: str, registered: Iterable[str]) -> str | None:
    """The one registered name that ends with `_` and the wanted one, else the one that equals it; any case.

    None when no name, or more than one, fits. For names that are registered exactly nobody asks.
    """
    names = list(registered)
    lowered = wanted.lower()
    suffixed = [name for name in names if name.lower().endswith(f"_{lowered}")]
    if len(suffixed) == 1:
        return suffixed[0]
    equal = [name for name in names if name.lower() == lowered]
    return equal[0] if len(equal) == 1 else None
