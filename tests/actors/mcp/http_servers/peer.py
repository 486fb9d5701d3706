"""`HttpPeer`: an HTTP server on the test's own loop that writes down what it is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec
from aiohttp import web

PATIENCE_S = 20.0
SESSION = "Mcp-Session-Id"


class Asked:
    """A request that came: its HTTP method, its headers, its JSON."""

    def __init__(self, request: web.Request, body: bytes) -> None:
        self.request = request
        self.verb = request.method
        assert request.transport is not None
        self.connection = request.transport.get_extra_info("peername")
        self.headers: Mapping[str, str] = request.headers
        self.message: dict[str, Any] = msgspec.json.decode(body) if body else {}

    @property
    def id(self) -> Any:
        """The id of its JSON-RPC request."""
        return self.message.get("id")

    @property
    def what(self) -> str:
        """Its JSON-RPC method, or its HTTP method if it has none."""
        return str(self.message.get("method", self.verb))

    def answer(self, result: object = "hi", **extra: Any) -> dict[str, Any]:
        """The answer to it."""
        return {"jsonrpc": "2.0", "id": self.id, "result": result, **extra}


Handler = Callable[[Asked], Awaitable[web.StreamResponse]]


class HttpPeer:
    """Listens on a free port within its block. `asked` is all that came; `handler` answers it."""

    def __init__(self, handler: Handler) -> None:
        self.handler = handler
        self.asked: list[Asked] = []
        self.open_requests = 0
        self.cancelled = asyncio.Event()
        self._came = asyncio.Condition()
        self._runner: web.AppRunner
        self.port = 0

    @property
    def url(self) -> str:
        """The endpoint."""
        return f"http://127.0.0.1:{self.port}/mcp"

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        asked = Asked(request, await request.read())
        self.asked.append(asked)
        async with self._came:
            self._came.notify_all()
        try:
            return await self.handler(asked)
        except asyncio.CancelledError:
            self.cancelled.set()
            raise

    async def until(self, what: str, times: int = 1) -> Asked:
        """Wait until that was asked so often; the last one."""
        async with asyncio.timeout(PATIENCE_S), self._came:
            await self._came.wait_for(lambda: len(self.of(what)) >= times)
        return self.of(what)[times - 1]

    def of(self, what: str) -> list[Asked]:
        """Each time that was asked."""
        return [asked for asked in self.asked if asked.what == what]

    async def __aenter__(self) -> HttpPeer:
        app = web.Application(client_max_size=100_000_000)
        app.router.add_route("*", "/mcp", self._handle)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port)
        await site.start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()


# -- answers --------------------------------------------------------------------------------------


def as_json(value: object, status: int = 200, **headers: str) -> web.Response:
    """A JSON answer."""
    body = msgspec.json.encode(value)
    names = {name.replace("_", "-"): text for name, text in headers.items()}
    return web.Response(body=body, status=status, headers=names, content_type="application/json")


def accepted() -> web.Response:
    """What a notification gets."""
    return web.Response(status=202)


def as_event(value: object, identity: str = "") -> bytes:
    """A message as an event."""
    head = f"id: {identity}\n".encode() if identity else b""
    return head + b"event: message\ndata: " + msgspec.json.encode(value) + b"\n\n"


async def stream(asked: Asked, *chunks: bytes, **headers: str) -> web.StreamResponse:
    """Begin a stream of events with these chunks; it ends when its handler returns it."""
    response = web.StreamResponse(
        headers={name.replace("_", "-"): headers[name] for name in headers}
    )
    response.content_type = "text/event-stream"
    await response.prepare(asked.request)
    for chunk in chunks:
        await response.write(chunk)
    return response


def die(asked: Asked) -> None:
    """End the connection at once, as a server does that is killed."""
    transport = asked.request.transport
    assert transport is not None
    transport.abort()


async def for_ever() -> None:
    """Until the client goes away."""
    await asyncio.Event().wait()


async def echo(asked: Asked) -> web.StreamResponse:
    """Answers requests by JSON, takes notifications, offers no stream of its own."""
    if asked.verb != "POST":
        return web.Response(status=405)
    return accepted() if asked.id is None else as_json(asked.answer())
