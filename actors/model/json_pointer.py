"""What a local reference of a JSON Schema (`#/$defs/Point`) points to (RFC 6901). Pure; fetches nothing."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

MISSING = object()
"""What `target_of` gives for a reference that is not local, or points to nothing."""


def target_of(reference: str, root: Any) -> Any:
    """The value in `root` that a reference like `#` or `#/a/b/0` points to, else `MISSING`.

    References to other documents, and to names that `$anchor` gives, are not local pointers.
    """
    if reference == "#":
        return root
    if not reference.startswith("#/"):
        return MISSING
    target = root
    for token in unquote(reference[2:]).split("/"):
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(target, dict) and key in target:
            target = target[key]
        elif isinstance(target, list) and key.isascii() and key.isdigit() and len(key) < 10:
            if int(key) >= len(target):
                return MISSING
            target = target[int(key)]
        else:
            return MISSING
    return target
