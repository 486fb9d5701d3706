"""Reported failures 3 and 16 of spec/mcp.md section 6, which are of HTTP, as the owner of a session sees them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from aiohttp import web
from msgspec.structs import replace

from actors.errors import McpConnectionLost, McpError
from actors.mcp.config import HttpServer, McpServerConfig
from tests.actors.mcp.http_servers.peer import (
    SESSION,
    Asked,
    HttpPeer,
    accepted,
    as_json,
    stream,
)
from tests.actors.mcp.sessions import PATIENT, on_loop, opened, text_of

Refusing = Callable[[Asked], web.StreamResponse]

NO_SESSION: dict[str, Refusing] = {
    "404": lambda _: web.Response(status=404),
    "404 html": lambda _: web.Response(status=404, text="<h1>Not Found</h1>"),
    "404 -32001": lambda asked: as_json(refusal(asked.id, -32001, "Session not found"), 404),
    "404 -32001 without id": lambda _: as_json(refusal(None, -32001, "Session not found"), 404),
    "400 -32000 without id": lambda _: as_json(
        refusal(None, -32000, "Bad Request: No valid session ID provided"), 400
    ),
    "400 in words": lambda _: web.Response(status=400, text="Invalid session id"),
    "400 not initialized": lambda asked: as_json(
        refusal(asked.id, -32000, "Bad Request: Server not initialized"), 400
    ),
}

NO_STREAM: dict[str, Refusing] = {
    "405": lambda _: web.Response(status=405),
    "404": lambda _: web.Response(status=404),
    "406": lambda _: web.Response(status=406, text="Not Acceptable"),
    "200 text": lambda _: web.Response(text="welcome"),
    "200 json": lambda _: as_json({}),
    "204": lambda _: web.Response(status=204),
    "500": lambda _: web.Response(status=500),
}


def refusal(identity: object, code: int, text: str) -> dict[str, object]:
    """A JSON-RPC error."""
    return {"jsonrpc": "2.0", "id": identity, "error": {"code": code, "message": text}}


class Forgetful:
    """A legacy server with one tool, `echo`, that knows the sessions in `known` and no others."""

    def __init__(self, refuse: Refusing) -> None:
        self.refuse = refuse
        self.known: set[str] = set()
        self.begun = 0
        self.remembers = True
        self.no_stream: Refusing = lambda _: web.Response(status=405)

    async def __call__(self, asked: Asked) -> web.StreamResponse:
        if asked.what == "initialize":
            return self._begin(asked)
        if asked.what == "server/discover":
            return as_json(refusal(asked.id, -32000, "Bad Request: Server not initialized"), 400)
        if asked.headers.get(SESSION) not in self.known:
            return self.refuse(asked)
        if asked.verb == "GET":
            return self.no_stream(asked)
        if asked.verb == "DELETE" or asked.id is None:
            return accepted()
        if asked.what == "tools/list":
            echo = {"name": "echo", "inputSchema": {"type": "object"}}
            return as_json(asked.answer({"tools": [echo]}))
        text = asked.message["params"]["arguments"]["text"]
        return as_json(asked.answer({"content": [{"type": "text", "text": text}]}))

    def _begin(self, asked: Asked) -> web.StreamResponse:
        self.begun += 1
        session = f"s{self.begun}"
        if self.remembers:
            self.known.add(session)
        result = {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "forgetful", "version": "1"},
        }
        return as_json(asked.answer(result), Mcp_Session_Id=session)


def config_of(peer: HttpPeer) -> McpServerConfig:
    """The configuration of a peer."""
    return McpServerConfig(HttpServer(peer.url), replace(PATIENT, shutdown=0.5))


@pytest.mark.parametrize("refuse", NO_SESSION.values(), ids=NO_SESSION)
@on_loop
async def test_3_a_session_that_was_forgotten_is_begun_anew_and_the_call_resent(
    refuse: Refusing,
) -> None:
    server = Forgetful(refuse)
    async with HttpPeer(server) as peer, opened(config_of(peer)) as session:
        for text in ("one", "two"):
            server.known.clear()
            assert text_of(await session.call_tool("echo", {"text": text})) == text
        assert server.begun == 3
        assert len(peer.of("tools/call")) == 4


@on_loop
async def test_3_many_calls_begin_one_new_session() -> None:
    server = Forgetful(NO_SESSION["404"])
    async with HttpPeer(server) as peer, opened(config_of(peer)) as session:
        server.known.clear()
        texts = [str(number) for number in range(20)]
        results = await asyncio.gather(
            *(session.call_tool("echo", {"text": text}) for text in texts)
        )
        assert [text_of(result) for result in results] == texts
        assert server.begun == 2


@pytest.mark.parametrize("refuse", NO_SESSION.values(), ids=NO_SESSION)
@on_loop
async def test_3_a_server_that_forgets_every_session_is_no_loop(refuse: Refusing) -> None:
    server = Forgetful(refuse)
    async with HttpPeer(server) as peer, opened(config_of(peer)) as session:
        server.known.clear()
        server.remembers = False
        with pytest.raises(McpConnectionLost, match="session"):
            await session.call_tool("echo", {"text": "x"})
        assert server.begun <= 3
        assert len(peer.of("tools/call")) <= 2
        server.remembers = True
        try:
            assert text_of(await session.call_tool("echo", {"text": "y"})) == "y"
        except McpError:
            assert not session.alive  # its owner begins another one


@pytest.mark.parametrize("no_stream", NO_STREAM.values(), ids=NO_STREAM)
@on_loop
async def test_16_a_server_without_a_stream_of_its_own_is_used_without(
    no_stream: Refusing,
) -> None:
    server = Forgetful(NO_SESSION["404"])
    server.no_stream = no_stream
    async with HttpPeer(server) as peer, opened(config_of(peer)) as session:
        await peer.until("GET")
        for number in range(20):
            await session.call_tool("echo", {"text": str(number)})
        assert session.alive
        assert len(peer.of("GET")) == 1


@on_loop
async def test_16_a_stream_that_ends_is_asked_for_again_when_the_server_says() -> None:
    async def handler(asked: Asked) -> web.StreamResponse:
        if asked.verb == "GET" and len(peer.of("GET")) == 1:
            return await stream(asked, b"id: 7\nretry: 1\ndata:\n\n")
        return await server(asked)

    server = Forgetful(NO_SESSION["404"])
    async with HttpPeer(handler) as peer, opened(config_of(peer)) as session:
        again = await peer.until("GET", times=2)
        assert again.headers["Last-Event-ID"] == "7"
        assert text_of(await session.call_tool("echo", {"text": "x"})) == "x"
