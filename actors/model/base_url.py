"""The base URL of a Lemonade server, from what people write (gaia 9.2). Pure."""

from __future__ import annotations

from collections.abc import Mapping

DEFAULT_LEMONADE_URL = "http://localhost:13305/api/v1"


def lemonade_url(url: str, environ: Mapping[str, str]) -> str:
    """`url` if given, else LEMONADE_BASE_URL, else the default; with `/api/v1` at its end.

    Slashes at the end are dropped. What ends in `/v1` stays as it is, so a plain OpenAI address does
    too; anything else gets `/api/v1` appended.
    """
    chosen = (url or environ.get("LEMONADE_BASE_URL") or DEFAULT_LEMONADE_URL).rstrip("/")
    return chosen if chosen.endswith("/v1") else f"{chosen}/api/v1"
