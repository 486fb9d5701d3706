"""Which model servers answer, asked the way every OpenAI-compatible server understands: `GET <base>/models`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import httpx

from actors.cli.finding import Finding

PROBE_S = 1.0
"""How long a server may take; a local one that lives answers in milliseconds."""

_SHOWN_MODELS = 3


def servers(addresses: Iterable[tuple[str, str]], *, api_key: str = "") -> Iterator[Finding]:
    """A finding per (what it is, base URL); the key is sent to the first only, the configured one."""
    for number, (kind, base_url) in enumerate(addresses):
        yield probe(kind, base_url, api_key=api_key if number == 0 else "")


def probe(kind: str, base_url: str, *, api_key: str = "", timeout_s: float = PROBE_S) -> Finding:
    """Whether the server at `base_url` answers, and with which models. Never raises for what it finds."""
    address = f"{base_url.rstrip('/')}/models"
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    advice = "if you want this one, start it; or name another server: --base-url URL"
    try:
        # No proxies: the agents ask directly too.
        reply = httpx.get(address, headers=headers, timeout=timeout_s, trust_env=False)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        reason = str(error) or type(error).__name__
        return Finding("note", f"{kind} at {base_url}: no answer ({reason})", advice)
    if not reply.is_success:
        return Finding(
            "note", f"{kind} at {base_url}: answers with status {reply.status_code}", advice
        )
    try:
        names = model_names(reply.json())
    except ValueError:
        return Finding("note", f"{kind} at {base_url}: answers, but not as a model server", advice)
    return Finding("ok", f"{kind} at {base_url}: answers, {_listed(names)}")


def model_names(listing: Any) -> list[str]:
    """The ids in a `/models` reply; what is not in its form has none."""
    entries = listing.get("data") if isinstance(listing, dict) else None
    if not isinstance(entries, list):
        return []
    ids = (entry.get("id") for entry in entries if isinstance(entry, dict))
    return [name for name in ids if isinstance(name, str)]


def _listed(names: list[str]) -> str:
    if not names:
        return "lists no models"
    more = f" and {len(names) - _SHOWN_MODELS} more" if len(names) > _SHOWN_MODELS else ""
    return f"has {', '.join(names[:_SHOWN_MODELS])}{more}"
