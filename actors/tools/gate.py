"""The gate for tools of MCP servers: which of them may run without being asked about (gaia 5).

A server says of its own tools what they do, so its word alone is not enough: a tool passes only if the
server calls it read-only *and* its name holds no verb that changes something. Pure, and errs towards
asking: `get_typed_value` is asked about because of `type`. It is no proof. A server that lies in both
places passes, and so does a verb that nobody listed.
"""

from __future__ import annotations

import re
from typing import Any

_VERB_LIST = """
    add alter append apply approve archive assign bash build cancel checkout chmod chown clear click clone
    close cmd commit compress copy create decrypt delete deploy destroy disable dismiss downgrade download
    drag drop edit enable encrypt erase eval exec execute export extract flush fork format forward goto
    grant import insert install interact invite invoke join keystroke kick kill launch leave merge migrate
    mkdir modify mount move navigate notify open paste patch pin post powershell press prune publish pull
    purge push put reboot rebase remove rename reopen replace reply reset restart restore revert revoke
    rmdir rollback rotate run save scale scroll send set share shell shortcut shutdown spawn start stop
    submit subscribe sudo symlink sync terminate touch transfer trigger truncate type uninstall unlink
    unmount unpin unset unsubscribe update upgrade upload upsert wipe write
"""
VERBS = frozenset(_VERB_LIST.split())
"""Verbs that change something (gaia 5)."""

_LONG_VERBS = tuple(sorted(verb for verb in VERBS if len(verb) >= 4))
"""Those that also count as the beginning of a longer word: `deletes`, `writer`."""

_SEGMENT = re.compile(r"[A-Za-z0-9]+")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def requires_confirmation(name: str, annotations: Any) -> bool:
    """Whether a person must approve before the tool runs.

    `name` is the tool's name at its server, `annotations` whatever the server sent for them. False only
    if `annotations` is an object whose `readOnlyHint` is `true`, and the name has words of which none
    is, or begins with, one of `VERBS`.
    """
    if not isinstance(annotations, dict) or annotations.get("readOnlyHint") is not True:
        return True
    words = name_words(name)
    return not words or any(_changes_something(word) for word in words)


def name_words(name: str) -> set[str]:
    """The words a name may be read as, in lower case: `WRITEFile_2` gives writefile, write, file and 2.

    Segments between characters that are no ASCII letters or digits count whole, and so do their parts
    between small and capital letters (`getX`, `HTTPGet`) and between letters and digits.
    """
    segments = _SEGMENT.findall(name)
    parts = [part for segment in segments for part in _WORD.findall(segment)]
    return {word.lower() for word in (*segments, *parts)}


def _changes_something(word: str) -> bool:
    return word in VERBS or word.startswith(_LONG_VERBS)
