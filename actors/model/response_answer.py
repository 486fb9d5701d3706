"""`ResponseAnswer`: an httpx response as an `HttpAnswer`, its body decoded by httpx.

For the answers of a user's client, and for the rare compressed answer to a request of our own.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import cast

import httpx

from actors.model.sender import HttpAnswer


class ResponseAnswer:
    """See the module. Owns the response."""

    def __init__(self, response: httpx.Response, sent_headers: Mapping[str, str]) -> None:
        self._response = response
        self._pieces = cast("AsyncGenerator[bytes, None]", response.aiter_bytes())
        self.status = response.status_code
        self.headers: Mapping[str, str] = response.headers
        self.sent_headers = sent_headers

    async def read_piece(self) -> bytes:
        """See `HttpAnswer.read_piece`."""
        try:
            return await anext(self._pieces)
        except StopAsyncIteration:
            return b""

    async def aclose(self) -> None:
        """See `HttpAnswer.aclose`."""
        await self._pieces.aclose()
        await self._response.aclose()


def decoded(answer: HttpAnswer) -> HttpAnswer:
    """The answer with its Content-Encoding undone; as it is if it has none."""
    if isinstance(answer, ResponseAnswer) or "content-encoding" not in answer.headers:
        return answer
    response = httpx.Response(answer.status, headers=answer.headers, stream=_Body(answer))
    return ResponseAnswer(response, answer.sent_headers)


class _Body(httpx.AsyncByteStream):
    """The encoded body of an answer."""

    def __init__(self, answer: HttpAnswer) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while piece := await self._answer.read_piece():
            yield piece

    async def aclose(self) -> None:
        """Close the answer."""
        await self._answer.aclose()
