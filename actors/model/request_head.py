"""From a request to what is sent before its body, and to whom.

The same request goes out again and again with another body, so what is made here is kept.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from functools import lru_cache

import httpx
from msgspec import Struct

_DEFAULTS = {"content-type": "application/json", "user-agent": "greenroom"}
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


class RequestHead(Struct, frozen=True):
    """`wire` is the head without its end, `headers` what is in it, names in lower case.

    Requests of equal `origin` (`scheme://host:port`) may share a connection.
    """

    origin: str
    wire: bytes
    headers: Mapping[str, str]

    def with_body(self, body: bytes) -> bytes:
        """The whole request. Without a body a GET has no length either (RFC 9110 section 8.6)."""
        if not body and self.wire.startswith(b"GET "):
            return self.wire + b"\r\n"
        return b"%bcontent-length: %d\r\n\r\n%b" % (self.wire, len(body), body)


@lru_cache(maxsize=256)
def request_head(method: str, url: str, headers: tuple[tuple[str, str], ...]) -> RequestHead:
    """The head of a request; user and password of the address go as basic authentication.

    Raises:
        httpx.LocalProtocolError: a header that cannot be sent.
    """
    parsed = httpx.URL(url)
    host = parsed.netloc.decode("ascii")
    sent = {"host": host, **_DEFAULTS, **{name.lower(): value for name, value in headers}}
    if parsed.userinfo:
        sent["authorization"] = _basic(parsed.username, parsed.password)
    lines = [f"{method} {parsed.raw_path.decode('ascii')} HTTP/1.1"]
    for name, value in sent.items():
        if _NAME.fullmatch(name) is None or _VALUE.fullmatch(value) is None:
            raise httpx.LocalProtocolError(f"the header {name!r} has characters that none may have")
        lines.append(f"{name}: {value}")
    wire = ("\r\n".join(lines) + "\r\n").encode("latin-1")
    return RequestHead(f"{parsed.scheme}://{host}", wire, sent)


def _basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode("ascii")
