"""The one place where errors of httpx become errors of ours, and how they read.

Pure functions from what happened to a `ModelError`. The message names the method, the address (without
query and password) and what to do; a body is clipped at 512 bytes (gaia 9.1) and rid of secrets.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

import httpx

from actors.errors import ModelError, ModelHTTPError, ModelTimeout, ModelUnavailable
from actors.model.error_body import message_of_body
from actors.model.redaction import redact, secrets_of, shown_url
from actors.model.sender import HttpAnswer, HttpRequest

_CLIP_BYTES = 512
_MOVED = (301, 302, 303, 307, 308)


def unreachable(exc: Exception, request: HttpRequest) -> ModelError:
    """The error for a request that got no answer, or half of one."""
    what = f"{request.method} {shown_url(request.url)}"
    why = redact(str(exc) or type(exc).__name__, secrets_of(request.headers))
    match exc:
        case httpx.ConnectTimeout() | httpx.PoolTimeout():
            return ModelTimeout(f"{what}: no connection within {request.connect_s} s")
        case httpx.TimeoutException():
            return ModelTimeout(
                f"{what}: the model server sent nothing for {request.read_s} s; "
                "a slow model needs a longer request timeout"
            )
        case httpx.ConnectError():
            return ModelUnavailable(f"{what}: cannot connect ({why}); is the model server running?")
        case httpx.UnsupportedProtocol() | httpx.LocalProtocolError():
            return ModelUnavailable(f"{what}: the request cannot be sent ({why})")
    return ModelUnavailable(f"{what}: the connection broke before the answer was whole ({why})")


def refused(request: HttpRequest, answer: HttpAnswer, body: bytes) -> ModelHTTPError:
    """The error for an answer with a status outside 200 to 299; `body` may be only its beginning."""
    text = message_of_body(body) or clipped(body) or "no body"
    text = redact(text, secrets_of(answer.sent_headers))
    what = f"{request.method} {shown_url(request.url)} answered {answer.status}"
    if answer.status in _MOVED and "location" in answer.headers:
        text = f"moved to {shown_url(answer.headers['location'])}; use that address"
    return ModelHTTPError(
        f"{what}: {text}",
        status=answer.status,
        retry_after_s=parse_retry_after(answer.headers, now=time.time()),
    )


def clipped(body: bytes, limit_bytes: int = _CLIP_BYTES) -> str:
    """The beginning of a body as text, whole characters only, blanks pressed together."""
    text = body[:limit_bytes].decode("utf-8", errors="ignore")
    return " ".join(text.split()) + ("..." if len(body) > limit_bytes else "")


def parse_retry_after(headers: Mapping[str, str], *, now: float) -> float | None:
    """The seconds a Retry-After header asks for, never negative; None without one that can be read.

    Both forms of RFC 9110 section 10.2.3: seconds, or an HTTP date (`now` is in seconds of the epoch).
    """
    value = headers.get("retry-after", "").strip()
    if not value:
        return None
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, OverflowError):
        return None
