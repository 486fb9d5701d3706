"""What the configuration of an HTTP server brings into requests, and never into messages."""

from __future__ import annotations

import pytest
import structlog
from aiohttp import web

from actors.errors import InvalidArgument, McpConnectionLost, McpProtocolError
from actors.mcp.config import HttpServer, McpTimeouts
from actors.mcp.http import HttpTransport
from actors.mcp.http_endpoint import Endpoint
from tests.actors.mcp.http_servers.client import Client
from tests.actors.mcp.http_servers.peer import Asked, HttpPeer, as_json, echo
from tests.actors.mcp.stdio_peers import Recorder, on_both_loops, run

pytestmark = on_both_loops


def test_headers_and_token_are_sent(loop: str) -> None:
    headers = (("X-Api-Key", "key-123\n"), ("User-Agent", "mine"), ("x-umlaut", "ä"))

    async def main() -> None:
        async with (
            HttpPeer(echo) as peer,
            Client(peer, headers=headers, bearer_token="tok-123") as client,
        ):
            await client.ask(1)
        sent = peer.asked[0].headers
        assert sent["Authorization"] == "Bearer tok-123"
        assert sent["X-Api-Key"] == "key-123"
        assert sent["User-Agent"] == "mine"
        assert sent["x-umlaut"] == "ä"

    run(loop, main())


def test_user_and_password_of_the_address_are_sent_as_credentials(loop: str) -> None:
    async def main() -> None:
        async with HttpPeer(echo) as peer:
            async with Client(peer.url.replace("//", "//me:p%40ss@")) as client:
                await client.ask(1)
        assert peer.asked[0].headers["Authorization"] == "Basic bWU6cEBzcw=="

    run(loop, main())


def test_headers_of_the_protocol_are_not_configured(loop: str) -> None:
    headers = (
        *(("accept", "text/html"), ("Content-Type", "text/plain"), ("mcp-session-id", "mine")),
        *(("Mcp-Param-Region", "x"), ("MCP-Protocol-Version", "1"), ("Content-Length", "3")),
    )

    async def main() -> None:
        async with HttpPeer(echo) as peer, Client(peer, headers=headers) as client:
            await client.ask(1)
        sent = peer.asked[0].headers
        assert sent["Accept"] == "application/json, text/event-stream"
        assert sent["Content-Type"] == "application/json"
        for name in ("Mcp-Session-Id", "Mcp-Param-Region", "MCP-Protocol-Version"):
            assert name not in sent

    with structlog.testing.capture_logs() as logs:
        run(loop, main())
    assert logs[0]["headers"] == [name for name, _ in headers]


def test_secrets_are_in_no_message(loop: str) -> None:
    """The server repeats all that it was sent."""

    async def handler(asked: Asked) -> web.StreamResponse:
        said = str(dict(asked.headers)) + str(asked.request.url) + str(asked.request.raw_path)
        return web.Response(status=401, text=said)

    headers = (("X-Api-Key", "key-12345"), ("X-Other", "Token other-12345"))

    async def main() -> None:
        async with HttpPeer(handler) as peer:
            client = Client(
                f"{peer.url}?key=query%2D12345", headers=headers, bearer_token="tok-12345"
            )
            async with client:
                with pytest.raises(McpProtocolError) as caught:
                    await client.ask(1)
        for text in (str(caught.value), repr(caught.value), repr(client.transport)):
            assert "12345" not in text
        assert "***" in str(caught.value)
        assert peer.asked[0].request.query == {"key": "query-12345"}

    run(loop, main())


@pytest.mark.parametrize(
    ("server", "why"),
    [
        (HttpServer("files"), "the url 'files' is no HTTP address; expected one like"),
        (HttpServer(""), "the url '' is no HTTP address"),
        (HttpServer("ftp://host/mcp"), "no HTTP address"),
        (HttpServer("http:///mcp"), "no HTTP address|cannot be read"),
        (HttpServer("http://host:99999/?key=secret"), "'http://host:99999/' cannot be read"),
        (HttpServer("http://h/", (("a b", "secret"),)), "'a b' is no name of a header"),
        (HttpServer("http://h/", (("a", "se\ncret"),)), "header 'a' has control characters"),
        (HttpServer("http://h/", (), "se cret"), "bearer_token has blanks"),
        (
            HttpServer("http://h/", (("authorization", "secret"),), "secret"),
            "in headers and in bearer_token; keep one",
        ),
        (HttpServer("http://me:secret@h/", (), "secret"), "in bearer_token and in the url"),
    ],
)
def test_a_configuration_that_cannot_work_is_told_at_once(
    loop: str, server: HttpServer, why: str
) -> None:
    async def main() -> None:
        transport = HttpTransport("x", server, McpTimeouts())
        with pytest.raises(McpConnectionLost, match=why) as caught:
            await transport.open(Recorder())
        assert not caught.value.sent
        assert "secret" not in str(caught.value)
        assert str(caught.value).startswith("server 'x' cannot be reached: ")
        await transport.aclose()

    run(loop, main())


def test_a_transport_lives_once(loop: str) -> None:
    async def main() -> None:
        async with HttpPeer(echo) as peer:
            async with Client(peer) as client:
                with pytest.raises(InvalidArgument, match="lives once"):
                    await client.transport.open(client.recorder)
            with pytest.raises(InvalidArgument, match="lives once"):
                await client.transport.open(client.recorder)

    run(loop, main())


def test_a_transport_that_was_never_opened_can_be_closed(loop: str) -> None:
    async def main() -> None:
        transport = HttpTransport("x", HttpServer("http://h/"), McpTimeouts())
        await transport.aclose()
        with pytest.raises(InvalidArgument):
            await transport.open(Recorder())
        assert transport.last_words() == ""

    run(loop, main())


def test_the_address_is_sent_as_it_is_and_shown_without_its_query(loop: str) -> None:
    async def handler(asked: Asked) -> web.StreamResponse:
        return as_json(asked.answer(asked.request.raw_path))

    async def main() -> None:
        async with HttpPeer(handler) as peer, Client(f"{peer.url}?a=1&b=x%20y#z") as client:
            await client.ask(1)
            assert await client.recorder.next_result() == "/mcp?a=1&b=x%20y"

    run(loop, main())
    endpoint = Endpoint("server 'x'", HttpServer("https://me:p@h:8/a?key=1#z"))
    assert endpoint.shown == "https://h:8/a"
