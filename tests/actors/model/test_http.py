"""`ModelHttp` against real sockets: what it sends, keeps alive, gives up on and closes."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Awaitable, Callable
from typing import TypeVar

import httpx
import pytest

from actors.errors import (
    ModelError,
    ModelHTTPError,
    ModelReplyError,
    ModelTimeout,
    ModelUnavailable,
)
from actors.model.http import ModelHttp, Timeouts
from actors.testing import (
    BigReply,
    BodyReply,
    Failure,
    JsonReply,
    Reply,
    ScriptedModelServer,
    SSEReply,
    answer_chunks,
    unused_port,
)

T = TypeVar("T")
OK = JsonReply({"ok": True})
SHORT = Timeouts(connect_s=5.0, read_s=0.05)


class Client:
    """How a test calls: its own httpx client, or none; on which event loop."""

    def __init__(
        self,
        make: Callable[[], httpx.AsyncClient | None],
        loop_factory: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop,
    ) -> None:
        self.make = make
        self.loop_factory = loop_factory

    def run(self, work: Callable[[ModelHttp], Awaitable[T]], *, limit_bytes: int = 1_000_000) -> T:
        async def main() -> T:
            client = self.make()
            http = ModelHttp(client, limit_bytes=limit_bytes)
            try:
                return await work(http)
            finally:
                await http.aclose()
                if client is not None:
                    assert not client.is_closed
                    await client.aclose()

        with asyncio.Runner(loop_factory=self.loop_factory) as runner:
            return runner.run(main())


@pytest.fixture(params=["default", "default on uvloop", "httpx"])
def client(request: pytest.FixtureRequest) -> Client:
    """Every test runs with each way to connect."""
    if request.param == "httpx":
        return Client(lambda: httpx.AsyncClient(trust_env=False))
    if request.param == "default":
        return Client(lambda: None)
    uvloop = pytest.importorskip("uvloop")
    return Client(lambda: None, uvloop.new_event_loop)


def chat(server: ScriptedModelServer) -> str:
    return f"{server.base_url}/chat/completions"


def failure_of(client: Client, reply: Reply, timeouts: Timeouts | None = None) -> ModelError:
    """The error that one POST answered by `reply` ends in."""
    with ScriptedModelServer([reply]) as server:
        with pytest.raises(ModelError) as caught:
            client.run(lambda http: http.post(chat(server), b"{}", timeouts=timeouts))
        server.assert_finished()
    return caught.value


def test_a_post_sends_body_and_headers_and_returns_the_answer(client: Client) -> None:
    reply = BodyReply("hi", status=201, headers={"x-there": "yes"}, content_type="text/plain")
    with ScriptedModelServer([reply]) as server:
        got = client.run(lambda http: http.post(chat(server), b'{"a":1}', {"X-Here": "1"}))
        assert (got.status, got.body, got.headers["x-there"]) == (201, b"hi", "yes")
        sent = server.chats[0]
        assert sent.json == {"a": 1}
        assert sent.headers["x-here"] == "1"
        assert sent.headers["host"] == f"127.0.0.1:{server.port}"


def test_a_body_of_megabytes_arrives_whole_also_on_a_connection_gone_stale(client: Client) -> None:
    body = bytes(range(256)) * 20_000
    with ScriptedModelServer([OK, Failure("close"), OK]) as server:

        async def work(http: ModelHttp) -> None:
            await http.post(chat(server), b"{}")
            await http.post(chat(server), body)

        client.run(work)
        server.assert_finished()
    assert [request.body == body for request in server.chats] == [False, True, True]


def test_a_get_asks_without_a_body(client: Client) -> None:
    with ScriptedModelServer() as server:
        got = client.run(lambda http: http.get(f"{server.base_url}/models?show_all=true"))
        assert got.body == b'{"object":"list","data":[]}'
        assert (server.requests[0].query, server.requests[0].body) == ("show_all=true", b"")


def test_calls_one_after_another_share_one_connection(client: Client) -> None:
    async def calls(http: ModelHttp, url: str) -> None:
        for _ in range(4):
            await http.post(url, b"{}")

    with ScriptedModelServer([OK] * 4) as server:
        client.run(lambda http: calls(http, chat(server)))
        server.assert_finished()
        assert server.connections == 1


def test_a_refusal_leaves_the_connection_usable(client: Client) -> None:
    async def calls(http: ModelHttp, url: str) -> None:
        with pytest.raises(ModelHTTPError):
            await http.post(url, b"{}")
        await http.post(url, b"{}")

    with ScriptedModelServer([BodyReply("no", status=500), OK]) as server:
        client.run(lambda http: calls(http, chat(server)))
        assert server.connections == 1


def test_a_connection_gone_stale_is_replaced_once(client: Client) -> None:
    async def calls(http: ModelHttp, url: str) -> None:
        await http.post(url, b"{}")
        await http.post(url, b'{"second":1}')

    with ScriptedModelServer([OK, Failure("close"), OK]) as server:
        client.run(lambda http: calls(http, chat(server)))
        server.assert_finished()
        assert server.connections == 2
        assert server.chats[1].body == server.chats[2].body == b'{"second":1}'


def test_a_fresh_connection_that_closes_is_not_tried_again(client: Client) -> None:
    error = failure_of(client, Failure("close"))
    assert isinstance(error, ModelUnavailable)
    assert "the connection broke before the answer was whole" in str(error)


def test_a_stale_connection_is_replaced_only_once(client: Client) -> None:
    async def calls(http: ModelHttp, url: str) -> None:
        await http.post(url, b"{}")
        with pytest.raises(ModelUnavailable):
            await http.post(url, b"{}")

    with ScriptedModelServer([OK, Failure("close"), Failure("close")]) as server:
        client.run(lambda http: calls(http, chat(server)))
        server.assert_finished()


def test_an_answer_that_had_begun_is_not_asked_for_again(client: Client) -> None:
    async def calls(http: ModelHttp, url: str) -> None:
        await http.post(url, b"{}")
        with pytest.raises(ModelUnavailable):
            await http.post(url, b"{}")

    with ScriptedModelServer([OK, Failure("cut")]) as server:
        client.run(lambda http: calls(http, chat(server)))
        server.assert_finished()


def test_nobody_there_is_unavailable(client: Client) -> None:
    url = f"http://127.0.0.1:{unused_port()}/v1/chat/completions"
    with pytest.raises(ModelUnavailable, match=r"cannot connect .* is the model server running\?"):
        client.run(lambda http: http.post(url, b"{}"))


@pytest.mark.parametrize("kind", ["cut", "reset"])
def test_half_an_answer_is_unavailable(client: Client, kind: str) -> None:
    reply = Failure("cut") if kind == "cut" else Failure("reset")
    assert isinstance(failure_of(client, reply), ModelUnavailable)


def test_silence_is_a_timeout_that_names_the_limit(client: Client) -> None:
    error = failure_of(client, Failure("silent"), SHORT)
    assert isinstance(error, ModelTimeout)
    assert "sent nothing for 0.05 s" in str(error)


def test_silence_in_the_middle_of_a_stream_is_a_timeout(client: Client) -> None:
    async def read(http: ModelHttp, url: str) -> None:
        async with http.stream(url, b"{}", timeouts=SHORT) as stream:
            async for _ in stream:
                pass

    with ScriptedModelServer([SSEReply(["data: 1\n\n"], ending="silent")]) as server:
        with pytest.raises(ModelTimeout):
            client.run(lambda http: read(http, chat(server)))
        server.wait_until(lambda it: it.hangups == 1)


def test_a_status_error_carries_status_words_and_retry_after(client: Client) -> None:
    reply = JsonReply({"error": {"message": "slow down"}}, status=429, headers={"retry-after": "7"})
    error = failure_of(client, reply)
    assert isinstance(error, ModelHTTPError)
    assert (error.status, error.retry_after_s) == (429, 7.0)
    assert str(error).endswith("answered 429: slow down")


def test_a_status_error_with_any_body_is_clipped(client: Client) -> None:
    error = failure_of(client, BodyReply("é" * 2000, status=500, content_type="text/html"))
    assert isinstance(error, ModelHTTPError)
    assert len(str(error)) < 600
    assert str(error).endswith("é...")


def test_a_redirect_is_an_error_that_tells_where_to(client: Client) -> None:
    error = failure_of(client, BodyReply("", status=301, headers={"location": "http://new/v1?k=1"}))
    assert "answered 301: moved to http://new/v1; use that address" in str(error)


@pytest.mark.parametrize("announced", [True, False])
def test_fifty_megabytes_are_refused_long_before_they_are_read(
    client: Client, announced: bool
) -> None:
    error = failure_of(client, BigReply(50_000_000, announced=announced))
    assert isinstance(error, ModelReplyError)
    assert "larger than 1000000 bytes" in str(error)


def test_a_big_error_body_is_not_read_whole(client: Client) -> None:
    reply = BodyReply(b"x" * 50_000_000, status=500)
    assert isinstance(failure_of(client, reply), ModelHTTPError)


def test_nonsense_in_the_place_of_http_is_unavailable(client: Client) -> None:
    async def work(http: ModelHttp) -> None:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"SSH-2.0-none\r\n\r\n")
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            with pytest.raises(ModelUnavailable):
                await http.post(f"http://127.0.0.1:{port}/v1", b"{}")

    client.run(work)


@pytest.mark.parametrize("url", ["", "localhost:8000/v1", "ftp://h/v1", "http://", "http://h:x/v1"])
def test_what_is_no_http_address_is_unavailable(client: Client, url: str) -> None:
    with pytest.raises(ModelUnavailable, match=r"expected an (http )?address"):
        client.run(lambda http: http.post(url, b"{}"))


def test_a_stream_gives_the_bytes_as_they_come(client: Client) -> None:
    async def read(http: ModelHttp, url: str) -> bytes:
        async with http.stream(url, b"{}") as stream:
            assert stream.headers["content-type"] == "text/event-stream"
            return b"".join([chunk async for chunk in stream])

    chunks = answer_chunks("a", "b")
    with ScriptedModelServer([SSEReply(chunks)]) as server:
        assert client.run(lambda http: read(http, chat(server))) == "".join(chunks).encode()


def test_a_stream_that_was_drained_leaves_its_connection_usable(client: Client) -> None:
    async def read(http: ModelHttp, url: str) -> None:
        async with http.stream(url, b"{}") as stream:
            async for _ in stream:
                await stream.drain()
                break

    async def calls(http: ModelHttp, url: str) -> None:
        await read(http, url)
        await http.post(url, b"{}")

    with ScriptedModelServer([SSEReply(answer_chunks("a")), OK]) as server:
        client.run(lambda http: calls(http, chat(server)))
        assert server.connections == 1


def test_leaving_a_stream_early_closes_its_connection(client: Client) -> None:
    async def read(http: ModelHttp, url: str, server: ScriptedModelServer) -> None:
        async with http.stream(url, b"{}") as stream:
            async for _ in stream:
                break
        await asyncio.to_thread(server.wait_until, lambda it: it.hangups == 1)

    with ScriptedModelServer([SSEReply(["data: 1\n\n"], ending="silent")]) as server:
        client.run(lambda http: read(http, chat(server), server))


def test_a_stream_is_bounded_too(client: Client) -> None:
    async def read(http: ModelHttp, url: str) -> None:
        async with http.stream(url, b"{}") as stream:
            async for _ in stream:
                pass

    with ScriptedModelServer([BigReply(5_000_000, announced=False)]) as server:
        with pytest.raises(ModelReplyError, match="larger than"):
            client.run(lambda http: read(http, chat(server)))


def test_cancelling_a_call_closes_its_connection(client: Client) -> None:
    async def work(http: ModelHttp, url: str, server: ScriptedModelServer) -> None:
        call = asyncio.create_task(http.post(url, b"{}"))
        await asyncio.to_thread(server.wait_until, lambda it: len(it.chats) == 1)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await asyncio.to_thread(server.wait_until, lambda it: it.hangups == 1)

    with ScriptedModelServer([Failure("silent")]) as server:
        client.run(lambda http: work(http, chat(server), server))


def test_a_hundred_calls_at_once_all_answer(client: Client) -> None:
    async def work(http: ModelHttp, url: str) -> set[bytes]:
        replies = await asyncio.gather(*(http.post(url, b"%d" % n) for n in range(100)))
        return {reply.body for reply in replies}

    with ScriptedModelServer(lambda request: BodyReply(request.body)) as server:
        bodies = client.run(lambda http: work(http, chat(server)))
    assert bodies == {b"%d" % n for n in range(100)}


def test_a_key_that_the_server_repeats_is_not_in_the_error(client: Client) -> None:
    reply = JsonReply({"error": {"message": "incorrect API key: sk-hush-12345"}}, status=401)
    headers = {"authorization": "Bearer sk-hush-12345"}
    with ScriptedModelServer([reply]) as server:
        with pytest.raises(ModelHTTPError) as caught:
            client.run(lambda http: http.post(chat(server), b"{}", headers))
    assert "incorrect API key: ***" in str(caught.value)


def test_a_key_in_the_address_is_not_in_the_error(client: Client) -> None:
    url = f"http://user:hush-hush@127.0.0.1:{unused_port()}/v1?key=hush-hush"
    with pytest.raises(ModelUnavailable) as caught:
        client.run(lambda http: http.post(url, b"{}"))
    assert "hush" not in str(caught.value)


def test_the_headers_of_a_users_client_are_sent_and_kept_secret() -> None:
    mine = httpx.AsyncClient(headers={"authorization": "Bearer my-own-key"}, trust_env=False)
    reply = BodyReply("who is my-own-key?", status=403)
    with ScriptedModelServer([reply]) as server:
        with pytest.raises(ModelHTTPError, match=r"who is \*\*\*\?"):
            Client(lambda: mine).run(lambda http: http.post(chat(server), b"{}"))
        assert server.chats[0].headers["authorization"] == "Bearer my-own-key"


def test_compressed_answers_are_read() -> None:
    reply = BodyReply(gzip.compress(b'{"a":1}'), headers={"content-encoding": "gzip"})
    with ScriptedModelServer([reply]) as server:
        got = Client(lambda: None).run(lambda http: http.post(chat(server), b"{}"))
    assert got.body == b'{"a":1}'


def test_broken_compression_is_unavailable(client: Client) -> None:
    error = failure_of(client, BodyReply("no gzip", headers={"content-encoding": "gzip"}))
    assert isinstance(error, ModelUnavailable)


def test_a_closed_client_refuses(client: Client) -> None:
    async def work(http: ModelHttp) -> None:
        await http.aclose()
        with pytest.raises(ModelUnavailable, match="closed"):
            await http.post("http://127.0.0.1:9/v1", b"{}")

    client.run(work)


def test_closing_ends_calls_in_flight() -> None:
    async def work(http: ModelHttp, url: str, server: ScriptedModelServer) -> None:
        call = asyncio.create_task(http.post(url, b"{}"))
        await asyncio.to_thread(server.wait_until, lambda it: len(it.chats) == 1)
        await http.aclose()
        with pytest.raises(ModelUnavailable):
            await call

    with ScriptedModelServer([Failure("silent")]) as server:
        Client(lambda: None).run(lambda http: work(http, chat(server), server))
