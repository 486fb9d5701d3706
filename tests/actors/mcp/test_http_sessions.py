"""Legacy Streamable HTTP: sessions, the server's own stream, and streams that are taken up again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

import pytest
import structlog
from aiohttp import web

from actors.errors import McpConnectionLost
from actors.mcp.config import McpTimeouts
from actors.mcp.http_stream import MOST_BREAKS
from actors.mcp.jsonrpc import Answer, Failure, Notification
from actors.mcp.transport import SessionLost
from tests.actors.mcp.http_servers.client import LEGACY, MODERN, Client
from tests.actors.mcp.http_servers.peer import (
    PATIENCE_S,
    SESSION,
    Asked,
    Handler,
    HttpPeer,
    accepted,
    as_event,
    as_json,
    die,
    for_ever,
    stream,
)
from tests.actors.mcp.stdio_peers import become, on_both_loops, run

pytestmark = on_both_loops

PRIMED = b"id: 1\nretry: 60\ndata: \n\n"
CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}


def sessions(handler: Handler | None = None, get: Handler | None = None) -> Handler:
    """Begins a session `s1`, `s2`, ... at each initialize; `handler` answers the other requests."""
    begun = 0

    async def handle(asked: Asked) -> web.StreamResponse:
        nonlocal begun
        if asked.what == "initialize":
            begun += 1
            return as_json(asked.answer({}), Mcp_Session_Id=f"s{begun}")
        if asked.verb == "GET":
            return await get(asked) if get else web.Response(status=405)
        if asked.verb == "DELETE" or asked.id is None:
            return accepted()
        return await handler(asked) if handler else as_json(asked.answer())

    return handle


# -- sessions -------------------------------------------------------------------------------------


def test_the_session_and_the_revision_go_with_every_request_after_the_first(loop: str) -> None:
    async def main() -> None:
        async with HttpPeer(sessions()) as peer, Client(peer) as client:
            await client.begin()
            await client.ask(1)
            assert await client.recorder.next() == Answer(1, "hi")
            await peer.until("GET")
        assert SESSION not in peer.of("initialize")[0].headers
        assert [asked.what for asked in peer.asked][-1] == "DELETE"
        for asked in peer.asked[1:]:
            assert asked.headers[SESSION] == "s1"
            assert asked.headers["MCP-Protocol-Version"] == LEGACY

    run(loop, main())


@pytest.mark.parametrize("status", [200, 404, 405, 500])
def test_the_session_is_ended_whatever_the_server_says_to_that(loop: str, status: int) -> None:
    begin = sessions()

    async def handler(asked: Asked) -> web.StreamResponse:
        if asked.verb == "DELETE":
            return web.Response(status=status, text="no")
        return await begin(asked)

    async def main() -> None:
        async with HttpPeer(handler) as peer, Client(peer) as client:
            await client.begin()
            await client.transport.aclose()
            await client.transport.aclose()
        assert len(peer.of("DELETE")) == 1

    run(loop, main())


def test_the_end_does_not_wait_for_a_server_that_is_silent(loop: str) -> None:
    begin = sessions()

    async def handler(asked: Asked) -> web.StreamResponse:
        if asked.verb == "DELETE":
            await for_ever()
        return await begin(asked)

    async def main() -> None:
        timeouts = McpTimeouts(shutdown=0.1)
        async with HttpPeer(handler) as peer, Client(peer, timeouts=timeouts) as client:
            await client.begin()
            async with asyncio.timeout(PATIENCE_S):
                await client.transport.aclose()
            assert peer.of("DELETE")

    run(loop, main())


def test_a_server_that_hangs_is_not_told_of_the_end(loop: str) -> None:
    async def main() -> None:
        async with HttpPeer(sessions()) as peer, Client(peer) as client:
            await client.begin()
            client.transport.condemn()
            await client.transport.aclose()
        assert peer.of("DELETE") == []

    run(loop, main())


def test_a_cancel_does_not_break_off_the_end(loop: str) -> None:
    begin = sessions()
    gate = asyncio.Event()

    async def handler(asked: Asked) -> web.StreamResponse:
        if asked.verb == "DELETE":
            await gate.wait()
        return await begin(asked)

    async def main() -> None:
        async with HttpPeer(handler) as peer, Client(peer) as client:
            await client.begin()
            closing = asyncio.ensure_future(client.transport.aclose())
            await peer.until("DELETE")
            closing.cancel()
            gate.set()
            with suppress(asyncio.CancelledError):
                await closing
            assert not peer.cancelled.is_set()

    run(loop, main())


def test_without_a_session_nothing_is_ended(loop: str) -> None:
    async def handler(asked: Asked) -> web.StreamResponse:
        return accepted() if asked.id is None else as_json(asked.answer())

    async def main() -> None:
        async with HttpPeer(handler) as peer, Client(peer) as client:
            await client.begin()
            await client.ask(1)
        assert peer.of("DELETE") == []

    run(loop, main())


def error(code: int, message: str, about: int | None = None) -> dict[str, object]:
    """A JSON-RPC error about no request, or about the one with this id."""
    return {"jsonrpc": "2.0", "id": about, "error": {"code": code, "message": message}}


@pytest.mark.parametrize(
    "refusal",
    [
        lambda: web.Response(status=404),
        lambda: as_json(error(-32001, "Session not found"), 404),
        lambda: as_json(error(-32600, "gone"), 404),
        lambda: as_json(error(-32001, "gone"), 400),
        lambda: as_json(error(-32000, "Bad Request: No valid session ID provided"), 400),
        lambda: as_json(error(-32000, "Bad Request: Server not initialized"), 400),
        lambda: as_json(error(-32600, "Missing Mcp-Session-Id header", about=1), 400),
        lambda: as_json(error(-32602, "unknown session"), 400),
        lambda: web.Response(status=400, text="Invalid session"),
    ],
)
def test_a_lost_session_is_told_and_another_can_be_begun(
    loop: str, refusal: Callable[[], web.Response]
) -> None:
    async def handler(asked: Asked) -> web.StreamResponse:
        return refusal() if asked.headers[SESSION] == "s1" else as_json(asked.answer())

    async def main() -> None:
        async with HttpPeer(sessions(handler)) as peer, Client(peer) as client:
            await client.begin()
            with pytest.raises(SessionLost, match="forgotten the session") as caught:
                await client.ask(1)
            assert not caught.value.sent
            with pytest.raises(SessionLost):
                await client.ask(2)  # nothing is sent without a session
            await client.begin()
            await client.ask(3)
            assert await client.recorder.next() == Answer(3, "hi")
        assert [SESSION in asked.headers for asked in peer.of("initialize")] == [False, False]
        assert [asked.id for asked in peer.of("tools/call")] == [1, 3]
        assert [asked.headers[SESSION] for asked in peer.of("DELETE")] == ["s2"]
        assert client.recorder.losses == []

    run(loop, main())


@pytest.mark.parametrize(
    ("status", "code", "message"),
    [
        (404, -32601, "no method"),
        (400, -32602, "bad params"),
        (400, -32602, "session: no browser of that name"),  # the tool's own word
        (400, -32000, "the argument session_id is missing"),
        (500, -32001, "session"),
    ],
)
def test_other_errors_leave_the_session(loop: str, status: int, code: int, message: str) -> None:
    async def handler(asked: Asked) -> web.StreamResponse:
        return as_json(error(code, message, about=1), status)

    async def main() -> None:
        async with HttpPeer(sessions(handler)) as peer, Client(peer) as client:
            await client.begin()
            await client.ask(1)
            assert await client.recorder.next() == Failure(1, code, message)
        assert len(peer.of("DELETE")) == 1

    run(loop, main())


def test_an_old_request_does_not_lose_the_new_session(loop: str) -> None:
    gate = asyncio.Event()

    async def handler(asked: Asked) -> web.StreamResponse:
        if asked.id == 1:
            await gate.wait()
        return (
            web.Response(status=404) if asked.headers[SESSION] == "s1" else as_json(asked.answer())
        )

    async def main() -> None:
        async with HttpPeer(sessions(handler)) as peer, Client(peer) as client:
            await client.begin()
            old = asyncio.ensure_future(client.ask(1))
            await peer.until("tools/call")
            with pytest.raises(SessionLost):
                await client.ask(2)
            await client.begin()
            gate.set()
            with pytest.raises(SessionLost):
                await old
            await client.ask(3)
            assert await client.recorder.next() == Answer(3, "hi")

    run(loop, main())


# -- the server's own stream ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "get",
    [
        lambda: web.Response(status=405),
        lambda: web.Response(status=404),
        lambda: web.Response(status=406),
        lambda: web.Response(status=200, text="hello"),
        lambda: web.Response(status=502),
    ],
)
def test_a_server_without_a_stream_of_its_own_is_asked_once(
    loop: str, get: Callable[[], web.Response]
) -> None:
    async def handler(_: Asked) -> web.StreamResponse:
        return get()

    async def main() -> None:
        async with HttpPeer(sessions(get=handler)) as peer, Client(peer) as client:
            await client.begin()
            await peer.until("GET")
            await become(lambda: not any("listen" in repr(task) for task in asyncio.all_tasks()))
            await client.ask(1)
            assert await client.recorder.next() == Answer(1, "hi")
        assert [asked.headers["Accept"] for asked in peer.of("GET")] == ["text/event-stream"]
        assert client.recorder.losses == []

    run(loop, main())


def test_a_modern_server_is_not_asked_for_a_stream(loop: str) -> None:
    async def main() -> None:
        async with HttpPeer(sessions()) as peer, Client(peer) as client:
            client.transport.agreed(MODERN, legacy=False)
            await client.tell("notifications/initialized")
            await client.ask(1)
        assert peer.of("GET") == []

    run(loop, main())


@pytest.mark.parametrize("dies", [False, True])
def test_the_servers_own_stream_is_asked_for_again_where_it_ended(loop: str, dies: bool) -> None:
    async def get(asked: Asked) -> web.StreamResponse:
        number = len(asked.headers.get("Last-Event-ID", ""))
        response = await stream(asked, b"retry: 1\n\n", as_event(CHANGED, "x" * (number + 1)))
        if number == 2:
            await for_ever()
        if dies:
            die(asked)
        return response

    async def main() -> None:
        async with HttpPeer(sessions(get=get)) as peer, Client(peer) as client:
            await client.begin()
            for _ in range(3):
                assert isinstance(await client.recorder.next(), Notification)
            ids = [asked.headers.get("Last-Event-ID") for asked in peer.of("GET")]
            assert ids == [None, "x", "xx"]
            assert {asked.headers[SESSION] for asked in peer.of("GET")} == {"s1"}
        assert client.recorder.losses == []

    run(loop, main())


def test_the_servers_own_stream_is_asked_for_anew_with_a_new_session(loop: str) -> None:
    async def get(asked: Asked) -> web.StreamResponse:
        response = await stream(asked)
        await for_ever()
        return response

    async def handler(asked: Asked) -> web.StreamResponse:
        return (
            web.Response(status=404) if asked.headers[SESSION] == "s1" else as_json(asked.answer())
        )

    async def main() -> None:
        async with HttpPeer(sessions(handler, get)) as peer, Client(peer) as client:
            await client.begin()
            await peer.until("GET")
            with pytest.raises(SessionLost):
                await client.ask(1)
            await client.begin()
            second = await peer.until("GET", 2)
            assert second.headers[SESSION] == "s2"
            async with asyncio.timeout(PATIENCE_S):
                await peer.cancelled.wait()  # the first one is closed

    run(loop, main())


# -- streams that are taken up again --------------------------------------------------------------


@pytest.mark.parametrize("dies", [False, True])
def test_a_stream_that_has_an_id_is_taken_up_again(loop: str, dies: bool) -> None:
    asking: list[Asked] = []

    async def handler(asked: Asked) -> web.StreamResponse:
        asking.append(asked)
        response = await stream(asked, PRIMED)
        if dies:
            await become(lambda: bool(response.prepared))
            die(asked)
        return response

    async def get(asked: Asked) -> web.StreamResponse:
        match asked.headers.get("Last-Event-ID"):
            case None:
                return web.Response(status=405)
            case "1":
                return await stream(asked, as_event(CHANGED, "2"))
            case _:
                return await stream(asked, as_event(asking[0].answer(), "3"))

    async def main() -> None:
        async with HttpPeer(sessions(handler, get)) as peer, Client(peer) as client:
            await client.begin()
            await peer.until("GET")
            await client.ask(1)
            assert isinstance(await client.recorder.next(), Notification)
            assert await client.recorder.next() == Answer(1, "hi")
            again = peer.of("GET")[1:]
            assert [asked.headers["Last-Event-ID"] for asked in again] == ["1", "2"]
            assert {asked.headers[SESSION] for asked in again} == {"s1"}
        assert len(peer.of("tools/call")) == 1

    run(loop, main())


def test_a_stream_that_breaks_again_and_again_without_news_is_given_up(loop: str) -> None:
    async def handler(asked: Asked) -> web.StreamResponse:
        return await stream(asked, b"id: 1\nretry: 1\ndata:\n\n")

    async def get(asked: Asked) -> web.StreamResponse:
        if "Last-Event-ID" not in asked.headers:
            return web.Response(status=405)
        return await stream(asked, b"id: 1\ndata:\n\n")

    async def main() -> None:
        async with HttpPeer(sessions(handler, get)) as peer, Client(peer) as client:
            await client.begin()
            await peer.until("GET")
            with pytest.raises(McpConnectionLost, match="before the answer") as caught:
                await client.ask(1)
            assert caught.value.sent
        assert len(peer.of("GET")) == 1 + 1 + MOST_BREAKS

    run(loop, main())


def test_a_server_that_takes_no_stream_up_again_loses_the_request(loop: str) -> None:
    async def handler(asked: Asked) -> web.StreamResponse:
        return await stream(asked, b"id: 1\nretry: 1\ndata:\n\n")

    async def main() -> None:
        async with HttpPeer(sessions(handler)) as peer, Client(peer) as client:
            await client.begin()
            await peer.until("GET")
            with pytest.raises(
                McpConnectionLost, match="gives no stream, but status 405"
            ) as caught:
                await client.ask(1)
            assert caught.value.sent
        assert len(peer.of("GET")) == 2

    run(loop, main())


def test_a_request_may_be_cancelled_while_it_waits_for_its_stream(loop: str) -> None:
    async def handler(asked: Asked) -> web.StreamResponse:
        return await stream(asked, b"id: 1\nretry: 3600000\ndata:\n\n")

    async def main() -> None:
        async with HttpPeer(sessions(handler)) as peer, Client(peer) as client:
            await client.begin()
            asking = asyncio.ensure_future(client.ask(1))
            await become(lambda: "an answer is asked for again" in str(logs))
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking

    with structlog.testing.capture_logs() as logs:
        run(loop, main())


def test_an_answer_may_come_on_the_servers_own_stream(loop: str) -> None:
    answers: asyncio.Queue[object] = asyncio.Queue()

    async def handler(asked: Asked) -> web.StreamResponse:
        response = await stream(asked, b": wait\n\n")
        answers.put_nowait(asked.answer("elsewhere"))
        await for_ever()
        return response

    async def get(asked: Asked) -> web.StreamResponse:
        response = await stream(asked)
        await response.write(as_event(await answers.get()))
        await for_ever()
        return response

    async def main() -> None:
        async with HttpPeer(sessions(handler, get)) as peer, Client(peer) as client:
            await client.begin()
            async with asyncio.timeout(PATIENCE_S):
                await client.ask(1)
            assert await client.recorder.next() == Answer(1, "elsewhere")

    run(loop, main())


# -- the end --------------------------------------------------------------------------------------


@pytest.mark.parametrize("silent", [False, True])
def test_requests_in_flight_fail_at_the_end(loop: str, silent: bool) -> None:
    async def handler(asked: Asked) -> web.StreamResponse:
        if not silent:
            await stream(asked, PRIMED)
        await for_ever()
        return accepted()

    async def main() -> None:
        async with HttpPeer(sessions(handler)) as peer, Client(peer) as client:
            await client.begin()
            asking = asyncio.ensure_future(client.ask(1))
            await peer.until("tools/call")
            await client.transport.aclose()
            with pytest.raises(McpConnectionLost) as caught:
                async with asyncio.timeout(PATIENCE_S):
                    await asking
            assert caught.value.sent
            with pytest.raises(McpConnectionLost, match="is closed") as caught:
                await client.ask(2)
            assert not caught.value.sent
        assert client.recorder.messages.empty()
        assert client.recorder.losses == []

    run(loop, main())


def test_a_request_that_waits_for_its_stream_fails_at_the_end(loop: str) -> None:
    async def handler(asked: Asked) -> web.StreamResponse:
        return await stream(asked, b"id: 1\nretry: 3600000\ndata:\n\n")

    async def main() -> None:
        async with HttpPeer(sessions(handler)) as peer, Client(peer) as client:
            await client.begin()
            asking = asyncio.ensure_future(client.ask(1))
            await become(lambda: "an answer is asked for again" in str(logs))
            await client.transport.aclose()
            with pytest.raises(McpConnectionLost) as caught:
                async with asyncio.timeout(PATIENCE_S):
                    await asking
            assert caught.value.sent

    with structlog.testing.capture_logs() as logs:
        run(loop, main())
