"""`HttpClient`: the connections to one HTTP server, and aiohttp's errors as ours.

Connections are kept and reused, as many as there are requests at once; nobody waits for another's. No proxy,
cookie or redirect. A request is sent once: whether one whose connection broke is made again is not decided
here. Certificates are checked against those the model's side trusts (certifi's, or SSL_CERT_FILE).
"""

from __future__ import annotations

import asyncio
import io
import ssl
from collections.abc import Mapping
from functools import cache
from typing import Final

import aiohttp
import httpx
import structlog

from actors.errors import McpConnectionLost, McpError, McpProtocolError
from actors.mcp.event_stream import EVENT_LIMIT
from actors.mcp.http_endpoint import Endpoint

BROKEN: Final = (aiohttp.ClientError, OSError)
"""What reading an answer raises when its connection breaks."""

_UNSENT: Final = (aiohttp.ClientError, OSError, ValueError)

# Node and uvicorn close an idle connection after 5 s. A request that is sent just then is lost, and nobody
# knows whether it ran; so ours are given up before.
_IDLE_S: Final = 4.0
_AT_ONCE_BYTES: Final = 1024 * 1024
_START_BYTES: Final = 1024 * 1024
_START_S: Final = 1.0

_log = structlog.get_logger(__name__)


class HttpClient:
    """See the module. `connect_s` bounds the making of a connection. Made and used on a running loop."""

    def __init__(self, peer: str, endpoint: Endpoint, connect_s: float) -> None:
        self._peer = peer
        self._endpoint = endpoint
        self._connect_s = connect_s
        tls = _tls_context() if endpoint.url.scheme == "https" else True
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_IDLE_S, ssl=tls),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, connect=connect_s),
        )

    async def send(
        self, method: str, headers: Mapping[str, str], body: bytes = b""
    ) -> aiohttp.ClientResponse:
        """Send a request and wait for the head of its answer, which must be closed.

        Raises:
            McpConnectionLost: there is no connection (`sent` false), or it broke before the head came.
            McpProtocolError: the answer is not HTTP.
        """
        try:
            return await self._session.request(
                method,
                self._endpoint.url,
                data=_in_pieces(body),
                headers=headers,
                allow_redirects=False,
            )
        except _UNSENT as error:
            raise self._mapped(error) from error
        except RuntimeError as error:  # aiohttp's word for a session that was closed meanwhile
            if not self._session.closed:
                raise
            raise McpConnectionLost(f"the connection to {self._peer} was closed") from error

    async def read(
        self, response: aiohttp.ClientResponse, *, limit_bytes: int = EVENT_LIMIT
    ) -> bytes:
        """The whole body.

        Raises:
            McpConnectionLost: its connection broke; `sent` is true.
            McpProtocolError: it is longer than the limit.
        """
        pieces: list[bytes] = []
        size = 0
        try:
            while piece := await response.content.readany():
                size += len(piece)
                if size > limit_bytes:
                    raise McpProtocolError(
                        f"{self._peer} sent an answer of more than {limit_bytes} bytes"
                    )
                pieces.append(piece)
        except BROKEN as error:
            raise self.broken(error) from error
        return b"".join(pieces)

    async def read_start(self, response: aiohttp.ClientResponse) -> bytes:
        """The body, or as much of it as a message needs, and as comes soon.

        What comes before it breaks off counts.
        """
        pieces: list[bytes] = []
        try:
            async with asyncio.timeout(_START_S):
                while sum(map(len, pieces)) < _START_BYTES and (
                    piece := await response.content.readany()
                ):
                    pieces.append(piece)
        except BROKEN as error:  # TimeoutError is an OSError
            _log.debug("a refusal broke off", peer=self._peer, why=type(error).__name__)
        return b"".join(pieces)

    def broken(self, error: Exception) -> McpConnectionLost:
        """The error for a connection that broke when the request had been sent."""
        why = self._endpoint.quoted(str(error) or type(error).__name__)
        return McpConnectionLost(
            f"{self._peer}: the connection to {self._endpoint.shown} broke before the answer "
            f"was whole ({why})",
            sent=True,
        )

    def _mapped(self, error: Exception) -> McpError:
        where = self._endpoint.shown
        match error:
            case aiohttp.ConnectionTimeoutError():
                text = f"no connection to {where} within {self._connect_s:g} s"
            case aiohttp.ClientConnectorCertificateError():
                why = self._endpoint.quoted(str(error.certificate_error))
                text = f"the certificate of {where} is not trusted ({why})"
            case aiohttp.ClientConnectorError():
                why = self._endpoint.quoted(str(error.os_error))
                text = f"cannot connect to {where} ({why}); is it running, and is the url right?"
            case aiohttp.ClientResponseError():
                why = self._endpoint.quoted(error.message)
                return McpProtocolError(f"{self._peer}: what answers at {where} is no HTTP ({why})")
            case ValueError():  # aiohttp.InvalidURL among them
                text = f"the request cannot be sent ({self._endpoint.quoted(str(error))})"
            case _:
                return self.broken(error)
        return McpConnectionLost(f"{self._peer}: {text}")

    async def aclose(self) -> None:
        """Close every connection; requests in flight fail."""
        await self._session.close()


@cache
def _tls_context() -> ssl.SSLContext:
    """Made once: to read the certificates takes a while."""
    return httpx.create_ssl_context()


def _in_pieces(body: bytes) -> bytes | io.BytesIO | None:
    """What aiohttp sends at once, or, from a megabyte on, piece by piece; bytes of that size it warns of."""
    if len(body) > _AT_ONCE_BYTES:
        return io.BytesIO(body)
    return body or None
