"""`AiohttpAnswer`: an answer on one of aiohttp's connections, and its errors in the words of httpx."""

from __future__ import annotations

from collections.abc import Mapping

import aiohttp
import httpx
from aiohttp.connector import Connection
from aiohttp.http import RawResponseMessage
from aiohttp.http_exceptions import HttpProcessingError


class AiohttpAnswer:
    """See `HttpAnswer`. Its connection goes back to the pool as soon as the body has come whole."""

    __slots__ = ("_body", "_connection", "headers", "sent_headers", "status")

    def __init__(
        self,
        connection: Connection,
        message: RawResponseMessage,
        body: aiohttp.StreamReader,
        sent_headers: Mapping[str, str],
    ) -> None:
        self._connection: Connection | None = connection
        self._body = body
        self.status = message.code
        self.headers: Mapping[str, str] = message.headers
        self.sent_headers = sent_headers
        body.on_eof(self._give_back)

    async def read_piece(self) -> bytes:
        """See `HttpAnswer.read_piece`."""
        try:
            return await self._body.readany()
        except (aiohttp.ClientError, HttpProcessingError, OSError) as error:
            raise httpx_error(error) from error

    async def aclose(self) -> None:
        """See `HttpAnswer.aclose`."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _give_back(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.release()


def httpx_error(error: Exception) -> httpx.TransportError:
    """The httpx error of the same kind as an error of aiohttp or of a socket."""
    text = str(error) or type(error).__name__
    match error:
        case TimeoutError():
            return httpx.ReadTimeout(text)
        case aiohttp.ClientConnectorCertificateError():
            return httpx.ConnectError(str(error.certificate_error))
        case aiohttp.ClientConnectorError():
            return httpx.ConnectError(str(error.os_error))
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientPayloadError():
            return httpx.RemoteProtocolError(text)
        case HttpProcessingError():
            return httpx.RemoteProtocolError(f"no HTTP answer: {error.message}")
        case ValueError():
            return httpx.LocalProtocolError(text)
    return httpx.ReadError(text)
