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

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


class Origin(Struct, frozen=True):
    """Where connections lead to; requests of equal origins may share one."""

    tls: bool
    host: str
    port: int


class RequestHead(Struct, frozen=True):
    """`wire` is the head without its end and `headers` what is in it."""

    origin: Origin
    wire: bytes
    headers: Mapping[str, str]

    def with_body(self, body: bytes) -> bytes:
        """The whole request. Without a body a GET has no length either."""
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
    sent = {"host": parsed.netloc.decode("ascii")}
    sent.update((name.lower(), value) for name, value in headers)
    if parsed.userinfo:
        sent["authorization"] = _basic(parsed.username, parsed.password)
    lines = [f"{method} {parsed.raw_path.decode('ascii')} HTTP/1.1"]
    for name, value in sent.items():
        if _NAME.fullmatch(name) is None or _VALUE.fullmatch(value) is None:
            raise httpx.LocalProtocolError(f"the header {name!r} has characters that none may have")
        lines.append(f"{name}: {value}")
    tls = parsed.scheme == "https"
    origin = Origin(tls, parsed.raw_host.decode("ascii"), parsed.port or (443 if tls else 80))
    return RequestHead(origin, ("\r\n".join(lines) + "\r\n").encode("latin-1"), sent)


def _basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode("ascii")
