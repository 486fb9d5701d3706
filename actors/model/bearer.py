"""The headers of a request to a model server: what it carries, and the key that lets it in."""

from __future__ import annotations

from collections.abc import Mapping

from actors.errors import ConfigError


def json_headers(api_key: str = "") -> Mapping[str, str]:
    """Headers for a JSON body, with `api_key` as bearer token unless it is empty.

    Blanks around the key are dropped: keys read from files end in a newline.

    Raises:
        ConfigError: the key has characters that no header can carry. Its text is not told.
    """
    headers = {"content-type": "application/json", "user-agent": "greenroom"}
    key = api_key.strip()
    if not key:
        return headers
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(
            "api_key", "expected printable ASCII characters without blanks; the text is not shown"
        )
    return {**headers, "authorization": f"Bearer {key}"}
