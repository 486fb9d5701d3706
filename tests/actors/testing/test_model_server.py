"""The scripted model server, seen by a plain blocking client of the standard library."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from actors.testing import (
    BigReply,
    BodyReply,
    Failure,
    JsonReply,
    RecordedRequest,
    Reply,
    ScriptedModelServer,
    SSEReply,
    answer,
    answer_chunks,
    tool_calls,
    unused_port,
)

CHAT = "/api/v1/chat/completions"


@contextmanager
def connected(server: ScriptedModelServer) -> Iterator[http.client.HTTPConnection]:
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)) as connection:
        yield connection


def post(connection: http.client.HTTPConnection, path: str = CHAT) -> http.client.HTTPResponse:
    connection.request("POST", path, json.dumps({"model": "m"}), {"X-Kept": "yes"})
    return connection.getresponse()


def test_successive_calls_take_successive_replies_on_one_connection() -> None:
    with ScriptedModelServer([answer("one"), BodyReply("<html>", status=500)]) as server:
        with connected(server) as client:
            first = json.loads(post(client).read())
            second = post(client, "/v1/chat/completions")
            assert first["choices"][0]["message"]["content"] == "one"
            assert (second.status, second.read()) == (500, b"<html>")
        server.assert_finished()
        assert server.connections == 1
        assert [each.json for each in server.chats] == [{"model": "m"}] * 2
        assert server.chats[0].headers["x-kept"] == "yes"


def test_a_call_too_many_fails_the_block() -> None:
    with pytest.raises(AssertionError, match="the script was over"):
        with ScriptedModelServer() as server, connected(server) as client:
            assert post(client).status == 500


def test_script_left_over_fails_assert_finished() -> None:
    with ScriptedModelServer([answer("never")]) as server:
        with pytest.raises(AssertionError, match="1 scripted replies were not asked for"):
            server.assert_finished()


def test_a_function_answers_without_end() -> None:
    def echo(request: RecordedRequest) -> Reply:
        return JsonReply({"path": request.path}, status=201)

    with ScriptedModelServer(echo) as server, connected(server) as client:
        for _ in range(3):
            reply = post(client)
            assert (reply.status, json.loads(reply.read())) == (201, {"path": CHAT})


def test_routes_answer_under_any_prefix_and_loads_are_recorded() -> None:
    routes = {"GET /models/tiny": JsonReply({"id": "tiny"})}
    with ScriptedModelServer(routes=routes) as server, connected(server) as client:
        for path, wanted in [
            ("/api/v1/health?x=1", {"status": "ok", "all_models_loaded": []}),
            ("/v1/models", {"object": "list", "data": []}),
            ("/v1/models/tiny", {"id": "tiny"}),
        ]:
            client.request("GET", path)
            assert json.loads(client.getresponse().read()) == wanted
        assert post(client, "/api/v1/load").read() == b'{"status":"success"}'
        assert [each.json for each in server.loads] == [{"model": "m"}]
        assert server.requests[0].query == "x=1"


def test_an_unknown_path_is_not_found() -> None:
    with ScriptedModelServer() as server, connected(server) as client:
        assert post(client, "/nowhere").status == 404


def test_a_stream_is_sent_chunk_by_chunk() -> None:
    with ScriptedModelServer([SSEReply(answer_chunks("a", "b"))]) as server:
        with connected(server) as client:
            reply = post(client)
            assert reply.getheader("content-type") == "text/event-stream"
            assert reply.read().count(b"data: ") == 3


@pytest.mark.parametrize("announced", [True, False])
def test_a_big_reply_has_its_size_whether_announced_or_not(announced: bool) -> None:
    with ScriptedModelServer([BigReply(200_000, announced=announced)]) as server:
        with connected(server) as client:
            reply = post(client)
            assert (reply.getheader("content-length") is not None) == announced
            assert len(json.loads(reply.read())) == 199_998


def test_close_gives_no_byte() -> None:
    with ScriptedModelServer([Failure("close")]) as server, connected(server) as client:
        with pytest.raises(http.client.RemoteDisconnected):
            post(client)


def test_cut_breaks_off_in_the_body() -> None:
    with ScriptedModelServer([Failure("cut")]) as server, connected(server) as client:
        with pytest.raises(http.client.IncompleteRead):
            post(client).read()


def test_reset_resets_in_the_body() -> None:
    with ScriptedModelServer([Failure("reset")]) as server, connected(server) as client:
        with pytest.raises((ConnectionResetError, http.client.IncompleteRead)):
            post(client).read()


def test_a_cut_stream_keeps_what_came_before() -> None:
    with ScriptedModelServer([SSEReply(["data: 1\n\n"], ending="cut")]) as server:
        with connected(server) as client:
            with pytest.raises(http.client.IncompleteRead) as caught:
                post(client).read()
            assert caught.value.partial == b"data: 1\n\n"


def test_silence_ends_when_the_client_goes_and_is_counted() -> None:
    with ScriptedModelServer([Failure("silent")]) as server:
        with connected(server) as client:
            client.request("POST", CHAT, "{}")
            server.wait_until(lambda it: len(it.chats) == 1)
        server.wait_until(lambda it: it.hangups == 1)


def test_leaving_the_block_ends_silence_and_delay() -> None:
    script: list[Reply] = [Failure("silent"), JsonReply({}, delay_s=3600)]
    with ScriptedModelServer(script) as server:
        first, second = (
            http.client.HTTPConnection("127.0.0.1", server.port, timeout=20) for _ in range(2)
        )
        for number, client in enumerate((first, second), 1):
            client.request("POST", CHAT, "{}")
            server.wait_until(lambda it, n=number: len(it.chats) == n)  # type: ignore[misc]
    with closing(first), closing(second):
        for client in (first, second):
            with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
                client.getresponse()


def test_tool_calls_have_the_wire_form() -> None:
    with ScriptedModelServer([tool_calls(("c1", "add", '{"a":1}'))]) as server:
        with connected(server) as client:
            message = json.loads(post(client).read())["choices"][0]["message"]
    function = {"name": "add", "arguments": '{"a":1}'}
    assert message["tool_calls"] == [{"id": "c1", "type": "function", "function": function}]


def test_an_unused_port_refuses() -> None:
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", unused_port()), timeout=20)


def test_a_client_that_goes_with_bytes_unread_is_counted_as_well() -> None:
    stream = SSEReply(answer_chunks("one", done=False), ending="silent")
    with ScriptedModelServer([stream]) as server:
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            client.sendall(b"POST /chat/completions HTTP/1.1\r\ncontent-length: 0\r\n\r\n")
            assert client.recv(1) == b"H"  # the rest stays unread, so closing resets
        server.wait_until(lambda it: it.hangups == 1)
