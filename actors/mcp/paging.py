"""All pages of a list a server gives (`tools/list`, `resources/list`, ...)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

import structlog

from actors.errors import McpProtocolError

_log = structlog.get_logger(__name__)

PAGES: Final = 1000
"""Most pages of one list."""


async def all_pages(
    peer: str, method: str, field: str, ask: Callable[[dict[str, Any]], Awaitable[Any]]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The objects of a list, and the last page.

    A cursor that comes again, or more than 1,000 pages, end the list with a warning: what was listed so
    far is kept. Entries that are no objects are left out.

    Raises:
        McpProtocolError: a page is no object with that list.
    """
    entries: list[dict[str, Any]] = []
    seen: set[str] = set()
    params: dict[str, Any] = {}
    for _ in range(PAGES):
        page = await ask(params)
        listed = page.get(field) if isinstance(page, dict) else None
        if not isinstance(listed, list):
            raise McpProtocolError(f"{peer} answered {method} without a list of {field}")
        entries += [each for each in listed if isinstance(each, dict)]
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str):
            return entries, page
        if cursor in seen:
            _log.warning("a list repeats itself", peer=peer, method=method, cursor=cursor[:100])
            return entries, page
        seen.add(cursor)
        params = {"cursor": cursor}
    _log.warning("a list does not end", peer=peer, method=method, pages=PAGES)
    return entries, page


def without_repeats(
    peer: str, what: str, entries: list[dict[str, Any]], key: str
) -> list[dict[str, Any]]:
    """The entries, of those with the same `key` only the first; a warning names what was left out."""
    kept: dict[Any, dict[str, Any]] = {}
    twice: set[str] = set()
    for number, entry in enumerate(entries):
        name = entry.get(key)
        identity = name if isinstance(name, str) else number
        if identity in kept:
            twice.add(str(identity))
        else:
            kept[identity] = entry
    if twice:
        _log.warning("listed twice", peer=peer, what=what, names=sorted(twice)[:20])
    return list(kept.values())
