"""Keeps secrets out of texts that people and logs will see.

Servers repeat what they were sent ("incorrect API key provided: ..."), and addresses may carry a
password or a key in the query. What an error says goes through here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_SECRET_HEADERS = ("authorization", "api-key", "x-api-key", "proxy-authorization", "cookie")
_SHORTEST = 4  # a shorter word is no secret, and taking it out would spoil the text
_USER_INFO = re.compile(r"//[^/?#]*@")


def secrets_of(headers: Mapping[str, str]) -> tuple[str, ...]:
    """The secret words in request headers; the scheme (`Bearer`) is none."""
    values = (value for name, value in headers.items() if name.lower() in _SECRET_HEADERS)
    return tuple(value.split()[-1] for value in values if value.strip())


def redact(text: str, secrets: Iterable[str]) -> str:
    """`text` with every secret of at least 4 characters replaced by `***`."""
    for secret in secrets:
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, "***")
    return text


def shown_url(url: str) -> str:
    """`url` without user, password, query and fragment, for messages."""
    return _USER_INFO.sub("//", url.partition("#")[0].partition("?")[0])
