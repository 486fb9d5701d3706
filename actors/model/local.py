"""`LocalProvider`: a model served on this machine, spoken to as any OpenAI-compatible server.

Whoever runs the server (see `LocalServer`) says where it is; after a restart that is another address. On
top of the wire it does for small models what their replies need: arguments a tool does not have are dropped,
and a reply that is neither text nor a call llama.cpp can read is asked for again without tools. What a turn
does differently for them are `TurnRules`; `traits_of` says which.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import msgspec
from msgspec import Raw

from actors.errors import AgentError, ModelHTTPError, ModelReplyError, ModelUnavailable
from actors.model.http import ModelHttp
from actors.model.openai import OpenAIProvider
from actors.model.provider import ModelReply, ModelRequest, TokenSink
from actors.model.tool_arguments import Known, known_arguments, without_unknown

FindServer = Callable[[], Awaitable[str]]
"""Gives the base URL of a server that is ready, waiting for it as long as it takes to load.

Raises AgentError where there will be none.
"""

ReportLost = Callable[[str], Awaitable[None]]
"""Told a base URL that does not answer; returns once it is known whether that server is dead."""

_QUICK_S = 5.0
_UNREADABLE = "does not match the expected"  # llama.cpp, of a reply in no form it can read


class LocalProvider:
    """See the module. Its calls wait for a server that is starting."""

    name = "local"
    local = True

    def __init__(
        self, http: ModelHttp, address: FindServer, report_lost: ReportLost | None = None
    ) -> None:
        self._http = http
        self._address = address
        self._report_lost = report_lost
        self._wire: tuple[str, OpenAIProvider] | None = None
        self._known: tuple[Raw, Known] | None = None

    async def available(self) -> bool:
        """Whether the server answers within 5 s, loading included."""
        try:
            async with asyncio.timeout(_QUICK_S):
                return await (await self._server()).available()
        except (AgentError, TimeoutError):
            return False

    async def prepare(self, model: str, context_size: int) -> None:  # noqa: ARG002  the server has both
        """Wait until the model is loaded. Raises AgentError where it cannot be."""
        await self._server()

    async def generate(self, request: ModelRequest) -> ModelReply:
        """Ask for one whole reply, once more if the server died over it.

        Raises AgentError: ModelError, or LocalModelError without a server.
        """
        server = await self._server()
        try:
            return self._cleaned(request, await server.generate(request))
        except ModelUnavailable as exc:
            server = await self._next_server(server, exc)
            return self._cleaned(request, await server.generate(request))
        except (ModelHTTPError, ModelReplyError) as exc:
            if not _unreadable(exc, request):
                raise
        return await server.generate(_without_tools(request))

    async def stream(self, request: ModelRequest, on_token: TokenSink) -> ModelReply:
        """Ask for a reply piece by piece; see `ModelProvider.stream`. Raises as `generate`."""
        server = await self._server()
        tokens = 0

        def pass_on(token: str) -> None:
            nonlocal tokens
            tokens += 1
            on_token(token)

        try:
            return self._cleaned(request, await server.stream(request, pass_on))
        except ModelUnavailable as exc:
            if tokens:
                raise
            server = await self._next_server(server, exc)
            return self._cleaned(request, await server.stream(request, on_token))
        except (ModelHTTPError, ModelReplyError) as exc:
            if tokens or not _unreadable(exc, request):
                raise
        return await server.stream(_without_tools(request), on_token)

    async def _server(self) -> OpenAIProvider:
        base_url = await self._address()
        if self._wire is None or self._wire[0] != base_url:
            provider = OpenAIProvider(self._http, base_url, name=self.name, local=True)
            self._wire = (base_url, provider)
        return self._wire[1]

    async def _next_server(self, lost: OpenAIProvider, error: ModelUnavailable) -> OpenAIProvider:
        """The server that took the place of a dead one; raises `error` if none did."""
        if self._report_lost is not None and self._wire is not None:
            await self._report_lost(self._wire[0])
            server = await self._server()
            if server is not lost:
                return server
        raise error

    def _cleaned(self, request: ModelRequest, reply: ModelReply) -> ModelReply:
        if request.tools is None or not reply.tool_calls:
            return reply
        if self._known is None or self._known[0] != request.tools:
            self._known = (request.tools, known_arguments(request.tools))
        calls = without_unknown(reply.tool_calls, self._known[1])
        return msgspec.structs.replace(reply, tool_calls=calls)


def _unreadable(exc: ModelHTTPError | ModelReplyError, request: ModelRequest) -> bool:
    return request.tools is not None and _UNREADABLE in str(exc)


def _without_tools(request: ModelRequest) -> ModelRequest:
    return msgspec.structs.replace(request, tools=None)
