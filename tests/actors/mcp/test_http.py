"""Requests, notifications and their answers over Streamable HTTP, in both eras."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import pytest
from aiohttp import web

from actors.errors import InvalidArgument, McpConnectionLost, McpProtocolError
from actors.mcp.config import McpTimeouts
from actors.mcp.jsonrpc import Answer, Failure, Notification, Request
from tests.actors.mcp.http_servers.client import LEGACY, MODERN, Client, request
from tests.actors.mcp.http_servers.peer import (
    PATIENCE_S,
    Asked,
    HttpPeer,
    accepted,
    as_event,
    as_json,
    die,
    echo,
    for_ever,
    stream,
)
from tests.actors.mcp.stdio_peers import become, on_both_loops, run

pytestmark = on_both_loops

PROGRESS = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}


def nothing_is_read_out() -> bool:
    """Whether every stream has ended whose answer has come."""
    return not any("_read_out" in repr(task) for task in asyncio.all_tasks())


def test_a_request_is_answered_by_json(loop: str) -> None:
    async def main() -> None:
        async with HttpPeer(echo) as peer, Client(peer) as client:
            await client.ask(1)
            assert await client.recorder.next() == Answer(1, "hi")
            headers = peer.asked[0].headers
        assert headers["Accept"] == "application/json, text/event-stream"
        assert headers["Content-Type"] == "application/json"
        assert "MCP-Protocol-Version" not in headers
        assert "Mcp-Session-Id" not in headers
        assert client.recorder.losses == []

    run(loop, main())


def test_a_batch_is_read_as_its_messages(loop: str) -> None:
    async def handler(asked: Asked) -> web.StreamResponse:
        return as_json([PROGRESS, asked.answer("done")])

    async def main() -> None:
        async with HttpPeer(handler) as peer, Client(peer) as client:
            await client.ask(1)
            assert isinstance(await client.recorder.next(), Notification)
            assert await client.recorder.next_result() == "done"

    run(loop, main())


def test_a_stream_may_say_more_before_the_answer(loop: str) -> None:
    question = {"jsonrpc": "2.0", "id": 9, "method": "roots/list"}
    ping = b"event: ping\ndata: not JSON\n\n: still there\n\n"

    async def handler(asked: Asked) -> web.StreamResponse:
        if asked.id is None or "result" in asked.message:
            return accepted()
        answer = asked.answer()
        return await stream(asked, as_event(PROGRESS), as_event(question), ping, as_event(answer))

    async def main() -> None:
        async with HttpPeer(handler) as peer, Client(peer) as client:
            await client.ask("a")
            assert await client.recorder.next() == Notification(
                "notifications/progress", {"progress": 1}
            )
            assert await client.recorder.next() == Request(9, "roots/list", {})
            assert await client.recorder.next() == Answer("a", "hi")
            await client.answer(9)
            assert peer.asked[-1].message["id"] == 9

    run(loop, main())


def test_send_returns_with_the_answer_though_the_stream_goes_on(loop: str) -> None:
    async def handler(asked: Asked) -> web.StreamResponse:
        response = await stream(asked, as_event(asked.answer()))
        await for_ever()
        return response

    async def main() -> None:
        async with HttpPeer(handler) as peer, Client(peer) as client:
            async with asyncio.timeout(PATIENCE_S):
                await client.ask(1)
                await peer.cancelled.wait()  # it is closed soon

    run(loop, main())


@pytest.mark.parametrize("streamed", [False, True])
def test_connections_are_used_again(loop: str, streamed: bool) -> None:
    async def handler(asked: Asked) -> web.StreamResponse:
        if asked.id is None:
            return web.Response(status=202, text="Accepted")
        if streamed:
            return await stream(asked, as_event(asked.answer()))
        return as_json(asked.answer())

    async def main() -> None:
        async with HttpPeer(handler) as peer, Client(peer) as client:
            for number in range(5):
                await client.ask(number)
                await become(nothing_is_read_out)
                await client.tell("notifications/x")
                await become(nothing_is_read_out)
        assert len({asked.connection for asked in peer.asked}) == 1

    run(loop, main())


def test_notifications_are_taken_whatever_the_body(loop: str) -> None:
    async def handler(asked: Asked) -> web.StreamResponse:
        if asked.what == "notifications/a":
            return accepted()
        return web.Response(status=200, text="thanks")

    async def main() -> None:
        async with HttpPeer(handler) as peer, Client(peer) as client:
            await client.tell("notifications/a")
            await client.tell("notifications/b")
        assert client.recorder.messages.empty()

    run(loop, main())


def test_a_notification_that_is_refused_is_told(loop: str) -> None:
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "not now"}}

    async def handler(_: Asked) -> web.StreamResponse:
        return as_json(error, 400)

    async def main() -> None:
        async with HttpPeer(handler) as peer, Client(peer) as client:
            with pytest.raises(McpProtocolError, match=r"status 400: .*not now") as caught:
                await client.tell("notifications/a")
        assert caught.value.status == 400

    run(loop, main())


def test_a_notification_that_is_never_taken_has_an_end(loop: str) -> None:
    async def handler(_: Asked) -> web.StreamResponse:
        await for_ever()
        raise AssertionError

    async def main() -> None:
        timeouts = McpTimeouts(call=0.1)
        async with HttpPeer(handler) as peer, Client(peer, timeouts=timeouts) as client:
            with pytest.raises(McpConnectionLost, match=r"notifications/a within 0\.1 s") as caught:
                await client.tell("notifications/a")
        assert caught.value.sent

    run(loop, main())


def test_the_revision_is_sent_once_it_is_agreed(loop: str) -> None:
    async def main() -> None:
        async with HttpPeer(echo) as peer, Client(peer) as client:
            await client.ask(1, "server/discover", MCP_Protocol_Version="2099-01-01")
            client.transport.agreed(MODERN, legacy=False)
            await client.ask(2, Mcp_Method="tools/call", Mcp_Name="add")
            await client.ask(3, MCP_Protocol_Version="2098-01-01")
        first, second, third = (asked.headers for asked in peer.asked)
        assert first.getall("MCP-Protocol-Version") == ["2099-01-01"]  # type: ignore[attr-defined]
        assert second["MCP-Protocol-Version"] == MODERN
        assert (second["Mcp-Method"], second["Mcp-Name"]) == ("tools/call", "add")
        assert third.getall("MCP-Protocol-Version") == ["2098-01-01"]  # type: ignore[attr-defined]

    run(loop, main())


def test_a_message_brings_no_other_header_than_its_own(loop: str) -> None:
    async def main() -> None:
        async with HttpPeer(echo) as peer, Client(peer) as client:
            with pytest.raises(InvalidArgument, match="'Authorization', only Mcp-"):
                await client.ask(1, Authorization="Bearer other")
        assert peer.asked == []

    run(loop, main())


def test_twenty_megabytes_both_ways(loop: str) -> None:
    big = "é" * 10_000_000

    async def handler(asked: Asked) -> web.StreamResponse:
        answer = asked.answer(asked.message["params"]["big"])
        return as_json(answer) if asked.id == 1 else await stream(asked, as_event(answer))

    async def main() -> None:
        async with HttpPeer(handler) as peer, Client(peer) as client:
            for number in (1, 2):
                await client.transport.send(request(number, params={"big": big}))
                assert await client.recorder.next_result() == big

    run(loop, main())


def test_a_compressed_answer_is_read_though_none_was_asked_for(loop: str) -> None:
    async def handler(asked: Asked) -> web.StreamResponse:
        body = gzip.compress(msgspec.json.encode(asked.answer("é")))
        return web.Response(
            body=body, headers={"Content-Encoding": "gzip"}, content_type="application/json"
        )

    async def main() -> None:
        async with HttpPeer(handler) as peer, Client(peer) as client:
            await client.ask(1)
            assert await client.recorder.next_result() == "é"
        assert peer.asked[0].headers["Accept-Encoding"] == "identity"

    run(loop, main())


def test_two_hundred_requests_do_not_wait_for_each_other(loop: str) -> None:
    count = 200

    async def main() -> None:
        all_here = asyncio.Barrier(count)

        async def handler(asked: Asked) -> web.StreamResponse:
            await all_here.wait()  # nobody is answered before all have asked
            if asked.id % 2:
                return as_json(asked.answer(asked.id))
            return await stream(asked, as_event(asked.answer(asked.id)))

        async with HttpPeer(handler) as peer, Client(peer) as client:
            async with asyncio.timeout(PATIENCE_S):
                await asyncio.gather(*(client.ask(number) for number in range(count)))
            assert sorted(await client.results(count)) == list(range(count))

    run(loop, main())


@pytest.mark.parametrize("legacy", [False, True])
def test_a_cancelled_request_closes_its_stream(loop: str, legacy: bool) -> None:
    async def handler(asked: Asked) -> web.StreamResponse:
        response = await stream(asked, as_event(PROGRESS))
        await for_ever()
        return response

    async def main() -> None:
        async with HttpPeer(handler) as peer, Client(peer) as client:
            client.transport.agreed(LEGACY if legacy else MODERN, legacy=legacy)
            assert client.transport.closing_cancels is not legacy
            asking = asyncio.ensure_future(client.ask(1))
            await client.recorder.next()
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            async with asyncio.timeout(PATIENCE_S):
                await peer.cancelled.wait()

    run(loop, main())


def test_an_error_status_with_a_json_rpc_error_is_an_answer(loop: str) -> None:
    async def handler(asked: Asked) -> web.StreamResponse:
        identity = {1: None, 2: "server-error", 3: 3}[asked.id]
        error = {"code": -32020, "message": "mismatch", "data": {"a": 1}}
        body = {"jsonrpc": "2.0", "id": identity, "error": error}
        return as_json(body, {1: 400, 2: 500, 3: 404}[asked.id])

    async def main() -> None:
        async with HttpPeer(handler) as peer, Client(peer) as client:
            for number in (1, 2, 3):
                await client.ask(number)
                got = await client.recorder.next()
                assert got == Failure(number, -32020, "mismatch", {"a": 1})

    run(loop, main())


def test_an_error_without_an_id_is_about_the_request_of_its_stream(loop: str) -> None:
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32603, "message": "oh"}}

    async def handler(asked: Asked) -> web.StreamResponse:
        return as_json(error) if asked.id == 1 else await stream(asked, as_event(error))

    async def main() -> None:
        async with HttpPeer(handler) as peer, Client(peer) as client:
            for number in (1, 2):
                await client.ask(number)
                assert await client.recorder.next() == Failure(number, -32603, "oh")

    run(loop, main())


@pytest.mark.parametrize(
    ("response", "status", "said"),
    [
        (lambda: web.Response(status=202), 202, "status 202 and an empty body"),
        (lambda: web.Response(status=200, content_type="application/json"), 200, "an empty body"),
        (lambda: as_json({"jsonrpc": "2.0", "id": 99, "result": 1}), 200, "no answer to it"),
        (lambda: web.Response(text="<h1>Hello</h1>", content_type="text/html"), 200, "<h1>Hello"),
        (lambda: web.Response(text="{", content_type="application/json"), 200, "json: {$"),
        (lambda: web.Response(status=502, text="<p>Bad\n  Gateway"), 502, "502: <p>Bad Gateway"),
        (lambda: web.Response(status=500), 500, "status 500: nothing"),
        (lambda: web.Response(status=404, text="no such page"), 404, "MCP endpoint"),
        (lambda: as_json({"error": "invalid_token"}, 401), 401, "invalid_token.*bearer_token"),
        (lambda: as_json({"jsonrpc": "2.0", "error": {"code": 1}}, 403), 403, "bearer_token"),
        (lambda: as_json({"error": "no such tenant"}, 404), 404, "no such tenant"),
    ],
)  # fmt: skip
def test_what_is_no_answer_is_told(loop: str, response: object, status: int, said: str) -> None:
    async def handler(_: Asked) -> web.StreamResponse:
        assert callable(response)
        made = response()
        assert isinstance(made, web.StreamResponse)
        return made

    async def main() -> None:
        async with HttpPeer(handler) as peer, Client(peer) as client:
            client.transport.agreed(LEGACY, legacy=True)
            with pytest.raises(McpProtocolError, match=said) as caught:
                await client.ask(1)
        assert caught.value.status == status
        assert str(caught.value).startswith("server 'x'")

    run(loop, main())


def test_a_refusal_that_does_not_end_is_told_soon(loop: str) -> None:
    async def handler(asked: Asked) -> web.StreamResponse:
        response = web.StreamResponse(status=503)
        await response.prepare(asked.request)
        await response.write(b"too busy")
        await for_ever()
        return response

    async def main() -> None:
        async with HttpPeer(handler) as peer, Client(peer) as client:
            with pytest.raises(McpProtocolError, match="status 503: too busy") as caught:
                await client.ask(1)
        assert caught.value.status == 503

    run(loop, main())


def test_redirects_are_not_followed(loop: str) -> None:
    async def handler(_: Asked) -> web.StreamResponse:
        return web.Response(status=307, headers={"Location": "http://other.example/mcp?key=1"})

    async def main() -> None:
        async with HttpPeer(handler) as peer, Client(peer) as client:
            with pytest.raises(McpProtocolError, match=r"moved to http://other\.example/mcp;"):
                await client.ask(1)
        assert len(peer.asked) == 1

    run(loop, main())


@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("dies", [False, True])
def test_a_stream_without_ids_that_ends_loses_its_request(
    loop: str, legacy: bool, dies: bool
) -> None:
    async def handler(asked: Asked) -> web.StreamResponse:
        response = await stream(asked, as_event(PROGRESS))
        if dies:
            die(asked)
        return response

    async def main() -> None:
        async with HttpPeer(handler) as peer, Client(peer) as client:
            client.transport.agreed(LEGACY if legacy else MODERN, legacy=legacy)
            with pytest.raises(McpConnectionLost) as caught:
                await client.ask(1)
            assert caught.value.sent
            assert isinstance(await client.recorder.next(), Notification)
        assert len(peer.asked) == 1
        assert client.recorder.losses == []

    run(loop, main())


def test_a_modern_stream_is_not_taken_up_again(loop: str) -> None:
    async def handler(asked: Asked) -> web.StreamResponse:
        return await stream(asked, b"id: 1\nretry: 0\ndata:\n\n")

    async def main() -> None:
        async with HttpPeer(handler) as peer, Client(peer) as client:
            client.transport.agreed(MODERN, legacy=False)
            with pytest.raises(McpConnectionLost, match="before the answer") as caught:
                await client.ask(1)
            assert caught.value.sent
        assert len(peer.asked) == 1

    run(loop, main())


def test_a_server_that_dies_before_it_answers_had_the_request(loop: str) -> None:
    async def handler(asked: Asked) -> web.StreamResponse:
        if asked.id == 2:
            die(asked)
        return as_json(asked.answer())

    async def main() -> None:
        async with HttpPeer(handler) as peer, Client(peer) as client:
            await client.ask(1)
            with pytest.raises(McpConnectionLost, match="broke before") as caught:
                await client.ask(2)  # on a connection that was used before
            assert caught.value.sent
            await client.ask(3)
            assert await client.results(2) == ["hi", "hi"]
        assert len(peer.of("tools/call")) == 3

    run(loop, main())


def test_a_request_to_nobody_was_not_sent(loop: str) -> None:
    async def main() -> None:
        async with HttpPeer(echo) as peer:
            url = peer.url
        async with Client(url) as client:
            with pytest.raises(McpConnectionLost, match="is it running") as caught:
                await client.ask(1)
            assert not caught.value.sent
        assert client.recorder.losses == []

    run(loop, main())


def test_a_server_that_comes_back_is_spoken_to_again(loop: str) -> None:
    async def main() -> None:
        peer = HttpPeer(echo)
        async with peer:
            client = Client(peer)
            await client.transport.open(client.recorder)
            await client.ask(1)
        with pytest.raises(McpConnectionLost):
            await client.ask(2)
        async with peer:
            await client.ask(3)
            assert [await client.recorder.next() for _ in range(2)] == [
                Answer(1, "hi"),
                Answer(3, "hi"),
            ]
            await client.transport.aclose()

    run(loop, main())


@asynccontextmanager
async def saying(words: bytes) -> AsyncIterator[str]:
    """The endpoint of a server that answers each request with these bytes, and hangs up."""

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(words)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(speak, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
    finally:
        server.close()
        await server.wait_closed()


@pytest.mark.parametrize(
    "words",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\ndata: {\r\nnot hex\r\n",
    ],
)
def test_what_speaks_no_http_is_told(loop: str, words: bytes) -> None:
    async def main() -> None:
        async with saying(words) as url, Client(url) as client:
            with pytest.raises(McpProtocolError, match="is no HTTP"):
                await client.ask(1)

    run(loop, main())


@pytest.mark.parametrize("kind", [b"application/json", b"text/event-stream"])
@pytest.mark.parametrize(
    "body",
    [
        b"Content-Length: 99\r\n\r\ndata: {",
        b"Transfer-Encoding: chunked\r\n\r\n9\r\ndata: {",
    ],
)
def test_an_answer_that_breaks_off_is_no_answer(loop: str, kind: bytes, body: bytes) -> None:
    async def main() -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: " + kind + b"\r\n"
        async with saying(head + body) as url, Client(url) as client:
            with pytest.raises(McpConnectionLost) as caught:
                await client.ask(1)
            assert caught.value.sent
            assert client.recorder.messages.empty()

    run(loop, main())
