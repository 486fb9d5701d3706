"""`Endpoint`: where an HTTP server is, what every request to it carries, and what no message may show."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Final

from yarl import URL

from actors.errors import McpConnectionLost
from actors.mcp.config import HttpServer
from actors.model.redaction import redact, shown_url

_OWN: Final = frozenset(
    (
        *("accept", "accept-encoding", "content-type", "content-length", "transfer-encoding"),
        *("connection", "last-event-id", "mcp-session-id", "mcp-protocol-version"),
        *("mcp-method", "mcp-name"),
    )
)
_OWN_PREFIX: Final = "mcp-param-"
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")  # RFC 9110 section 5.6.2
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_SHOWN_CHARS = 300


class Endpoint:
    """See the module. `peer` names the server in messages: `server 'files'`.

    * `url`: the address without user and fragment.
    * `headers`: those of the configuration, and the credentials. A configured header that is the
      protocol's own (`Accept`, `Mcp-Name`, ...) is left out: the protocol's is sent.
    * `shown`: the address for messages, without query.
    * `left_out`: the names of configured headers that are not sent.

    Raises:
        McpConnectionLost: the configuration cannot work; says what to change, and shows no secret.
    """

    def __init__(self, peer: str, server: HttpServer) -> None:
        self._peer = peer
        self.shown = shown_url(server.url.strip())
        url = self._parsed(server.url.strip())
        self.url = url.with_user(None).with_fragment(None)
        self.headers: dict[str, str] = {}
        self.left_out: list[str] = []
        for name, value in server.headers:
            self._add(name, value.strip())
        self._authorize(url, server.bearer_token.strip())
        self._secrets = sorted(_secrets(url, self.headers), key=len, reverse=True)

    def _parsed(self, text: str) -> URL:
        try:
            url = URL(text)
        except ValueError as error:
            why = str(error).replace(text, self.shown)
            raise self._unusable(f"the url {self.shown!r} cannot be read ({why})") from None
        if url.scheme not in ("http", "https") or not url.host:
            raise self._unusable(
                f"the url {self.shown!r} is no HTTP address; expected one like 'https://host/mcp'"
            )
        return url

    def _add(self, name: str, value: str) -> None:
        lower = name.lower()
        if lower in _OWN or lower.startswith(_OWN_PREFIX):
            self.left_out.append(name)
            return
        if not _TOKEN.fullmatch(name):
            raise self._unusable(f"{name!r} is no name of a header")
        if _CONTROL.search(value):
            raise self._unusable(f"header {name!r} has control characters in its value")
        self.headers[name] = value

    def _authorize(self, url: URL, bearer_token: str) -> None:
        if _CONTROL.search(bearer_token) or " " in bearer_token:
            raise self._unusable("bearer_token has blanks or control characters")
        ways = ["headers"] if "authorization" in map(str.lower, self.headers) else []
        if bearer_token:
            ways.append("bearer_token")
            self.headers["Authorization"] = f"Bearer {bearer_token}"
        if url.user is not None or url.password is not None:
            ways.append("the url")
            user = f"{url.user or ''}:{url.password or ''}".encode()  # RFC 7617
            self.headers["Authorization"] = f"Basic {base64.b64encode(user).decode('ascii')}"
        if len(ways) > 1:
            raise self._unusable(f"credentials are in {' and in '.join(ways)}; keep one of them")

    def _unusable(self, why: str) -> McpConnectionLost:
        return McpConnectionLost(f"{self._peer} cannot be reached: {why}")

    def quoted(self, said: str, *further_secrets: str) -> str:
        """What a server or a library said, on one line, cut short, without what is secret."""
        text = " ".join(redact(said, [*self._secrets, *further_secrets]).split())
        return text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "..."


def _secrets(url: URL, headers: Mapping[str, str]) -> Iterator[str]:
    """The words of the configuration that may be secret; a server may say them again."""
    for value in headers.values():
        yield value
        yield value.split()[-1] if value else ""
    yield url.password or ""
    yield url.raw_password or ""
    yield from url.query.values()
    for pair in url.raw_query_string.split("&"):
        yield pair.partition("=")[2]
