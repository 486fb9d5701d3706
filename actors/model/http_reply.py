"""An answer over HTTP: whole (`HttpReply`), or while it comes (`HttpStream`).

`ModelHttp` makes them. Both know which words of the request no message may repeat.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import httpx
from msgspec import Struct

from actors.errors import ModelError, ModelReplyError
from actors.model.http_errors import unreachable
from actors.model.redaction import secrets_of, shown_url
from actors.model.sender import HttpAnswer, HttpRequest

ERROR_BODY_BYTES = 65_536
_DRAIN_S = 0.2


class HttpReply(Struct, frozen=True):
    """A whole answer with a status of 200 to 299; names of headers are looked up in any case."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    sent_headers: Mapping[str, str]

    @property
    def secrets(self) -> tuple[str, ...]:
        """Words of the request that no message may repeat."""
        return secrets_of(self.sent_headers)


class HttpStream:
    """An answer whose body is still coming: iterate over it once for its bytes, in pieces of any size.

    Raises ModelReplyError when more than the limit comes, otherwise as `ModelHttp.post`.
    """

    def __init__(self, request: HttpRequest, answer: HttpAnswer, limit_bytes: int) -> None:
        self._request = request
        self._answer = answer
        self._limit_bytes = limit_bytes
        self._taken = 0

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of the answer; a name is looked up in any case."""
        return self._answer.headers

    @property
    def secrets(self) -> tuple[str, ...]:
        """Words of the request that no message may repeat."""
        return secrets_of(self._answer.sent_headers)

    def __aiter__(self) -> HttpStream:
        return self

    async def __anext__(self) -> bytes:
        chunk = await self._next()
        if not chunk:
            raise StopAsyncIteration
        return chunk

    async def _next(self) -> bytes:
        try:
            chunk = await self._answer.read_piece()
        except (httpx.HTTPError, httpx.StreamError) as exc:
            raise unreachable(exc, self._request) from exc
        self._taken += len(chunk)
        if self._taken > self._limit_bytes:
            raise _too_big(self._request, self._limit_bytes)
        return chunk

    async def read(self) -> HttpReply:
        """The whole answer."""
        announced = self.headers.get("content-length", "")
        if announced.isdigit() and int(announced) > self._limit_bytes:
            raise _too_big(self._request, self._limit_bytes)
        chunks = []
        while chunk := await self._next():
            chunks.append(chunk)
        body = b"".join(chunks)
        answer = self._answer
        return HttpReply(answer.status, answer.headers, body, answer.sent_headers)

    async def read_some(self, limit_bytes: int) -> bytes:
        """The first bytes of the body, at most about `limit_bytes`; what breaks off is no error."""
        pieces: list[bytes] = []
        try:
            async for chunk in self:
                pieces.append(chunk)
                if self._taken >= limit_bytes:
                    break
        except ModelError:
            pass  # the caller has something worse to tell
        return b"".join(pieces)

    async def drain(self) -> None:
        """Read the little that is left, so that the connection can be used again; give up soon."""
        try:
            async with asyncio.timeout(_DRAIN_S):
                await self.read_some(ERROR_BODY_BYTES + self._taken)
        except TimeoutError:
            pass  # the connection closes with the answer

    async def aclose(self) -> None:
        """End the answer: its connection is kept if the body was read whole, closed if not."""
        await self._answer.aclose()


def _too_big(request: HttpRequest, limit_bytes: int) -> ModelReplyError:
    return ModelReplyError(
        f"{request.method} {shown_url(request.url)}: the answer is larger than "
        f"{limit_bytes} bytes, which no reply of a model is"
    )
