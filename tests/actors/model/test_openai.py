"""An OpenAI-compatible server: replies, streams, and every way it can fail, over real sockets."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest
from msgspec import Raw

from actors.errors import (
    ConfigError,
    ModelError,
    ModelHTTPError,
    ModelReplyError,
    ModelTimeout,
    ModelUnavailable,
)
from actors.model.http import ModelHttp, Timeouts
from actors.model.message import Usage
from actors.model.openai import OpenAIProvider
from actors.model.provider import ModelProvider, ModelReply, ModelRequest
from actors.testing import (
    BigReply,
    BodyReply,
    Failure,
    JsonReply,
    Reply,
    ScriptedModelServer,
    SSEReply,
    answer,
    answer_chunks,
    tool_calls,
    unused_port,
)

T = TypeVar("T")
REQUEST = ModelRequest(
    "m", (Raw(b'{"role":"user","content":"hi"}'),), max_tokens=9, temperature=0.0
)
USAGE = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a":1}'}}


def with_provider(
    base_url: str, work: Callable[[OpenAIProvider], Awaitable[T]], *, read_s: float = 10.0
) -> T:
    async def main() -> T:
        http = ModelHttp(timeouts=Timeouts(read_s=read_s), limit_bytes=1_000_000)
        try:
            return await work(OpenAIProvider(http, base_url, api_key="sk-hush-123"))
        finally:
            await http.aclose()

    return asyncio.run(main())


def generated(reply: Reply, *, read_s: float = 10.0) -> ModelReply:
    with ScriptedModelServer([reply]) as server:
        found = with_provider(server.base_url, lambda it: it.generate(REQUEST), read_s=read_s)
        server.assert_finished()
    return found


def streamed(reply: Reply, *, read_s: float = 10.0) -> tuple[ModelReply, list[str]]:
    tokens: list[str] = []
    with ScriptedModelServer([reply]) as server:
        found = with_provider(
            server.base_url, lambda it: it.stream(REQUEST, tokens.append), read_s=read_s
        )
        server.assert_finished()
    return found, tokens


def event(text: str) -> str:
    return f"data: {text}\n\n"


FAILURES: list[tuple[Reply, type[ModelError], str]] = [
    (Failure("close"), ModelUnavailable, "the connection broke"),
    (Failure("cut"), ModelUnavailable, "the connection broke"),
    (Failure("reset"), ModelUnavailable, "the connection broke"),
    (Failure("silent"), ModelTimeout, "sent nothing for 0.1 s"),
    (JsonReply({}, status=429, headers={"retry-after": "2"}), ModelHTTPError, "answered 429"),
    (BodyReply("oops", status=500), ModelHTTPError, "answered 500: oops"),
    (BodyReply("<html>hello</html>", content_type="text/html"), ModelReplyError, "<html>hello"),
    (BodyReply(""), ModelReplyError, "an empty body"),
    (JsonReply({"error": {"message": "no such model"}}), ModelReplyError, "no such model"),
    (JsonReply({"choices": []}), ModelReplyError, "choices"),
    (BigReply(50_000_000), ModelReplyError, "larger than 1000000 bytes"),
]


@pytest.mark.parametrize(("reply", "kind", "text"), FAILURES)
def test_every_failure_of_a_reply_is_an_error_of_ours(
    reply: Reply, kind: type[ModelError], text: str
) -> None:
    with pytest.raises(ModelError) as caught:
        generated(reply, read_s=0.1)
    assert type(caught.value) is kind
    assert text in str(caught.value)


@pytest.mark.parametrize(("reply", "kind", "text"), FAILURES)
def test_every_failure_of_a_stream_is_an_error_of_ours(
    reply: Reply, kind: type[ModelError], text: str
) -> None:
    with pytest.raises(ModelError) as caught:
        streamed(reply, read_s=0.1)
    assert type(caught.value) is kind
    assert text in str(caught.value)


@pytest.mark.parametrize("how", ["generate", "stream"])
def test_nobody_there_is_unavailable(how: str) -> None:
    async def ask(provider: OpenAIProvider) -> ModelReply:
        if how == "generate":
            return await provider.generate(REQUEST)
        return await provider.stream(REQUEST, lambda _token: None)

    with pytest.raises(ModelUnavailable, match="cannot connect"):
        with_provider(f"http://127.0.0.1:{unused_port()}/v1", ask)


def test_a_reply_is_text_and_usage() -> None:
    assert generated(answer("hello", usage=USAGE)) == ModelReply("hello", usage=Usage(1, 2, 3))


def test_a_reply_may_be_tool_calls() -> None:
    assert generated(tool_calls(("c1", "add", '{"a":1}'))) == ModelReply(None, [CALL])


def test_what_is_sent_goes_to_the_right_place_with_the_key() -> None:
    with ScriptedModelServer([answer("hello")]) as server:
        with_provider(f"{server.base_url}/", lambda it: it.generate(REQUEST))
        sent = server.chats[0]
    assert sent.path == "/api/v1/chat/completions"
    assert sent.headers["content-type"] == "application/json"
    assert sent.headers["authorization"] == "Bearer sk-hush-123"
    assert sent.json == {
        "model": "m",
        "max_tokens": 9,
        "temperature": 0.0,
        "messages": [{"role": "user", "content": "hi"}],
    }


@pytest.mark.parametrize("status", [200, 401])
def test_the_key_is_in_no_error(status: int) -> None:
    reply = JsonReply({"error": {"message": "wrong key sk-hush-123"}}, status=status)
    for ask in (generated, streamed):
        with pytest.raises(ModelError, match=r"wrong key \*\*\*") as caught:
            ask(reply)
        assert caught.value.__cause__ is None


def test_a_stream_gives_tokens_and_the_whole() -> None:
    chunks = [
        event('{"choices":[{"delta":{"role":"assistant","content":null}}]}'),
        *answer_chunks("he", "llo", done=False),
        event('{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}'),
        event("[DONE]"),
    ]
    reply, tokens = streamed(SSEReply(chunks))
    assert tokens == ["he", "llo"]
    assert reply == ModelReply("hello", [], Usage(1, 2, 3))


def test_a_stream_asks_with_one_key_more() -> None:
    with ScriptedModelServer([SSEReply(answer_chunks("a"))]) as server:
        with_provider(server.base_url, lambda it: it.stream(REQUEST, lambda _token: None))
        assert list(server.chats[0].json) == [
            "model",
            "max_tokens",
            "temperature",
            "messages",
            "stream",
        ]


def test_a_stream_may_be_tool_calls_in_pieces() -> None:
    chunks = [
        event(
            '{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"add"}}]}}]}'
        ),
        event(
            '{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\\"a\\""}}]}}]}'
        ),
        event(
            '{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}}]}'
        ),
        event("[DONE]"),
    ]
    reply, tokens = streamed(SSEReply(chunks))
    assert (reply.text, reply.tool_calls, tokens) == (None, [CALL], [])


def test_a_plain_body_in_answer_to_a_stream_is_read_without_tokens() -> None:
    reply, tokens = streamed(answer("plain", usage=USAGE))
    assert (reply, tokens) == (ModelReply("plain", usage=Usage(1, 2, 3)), [])


def test_a_stream_that_ends_before_done_is_not_complete() -> None:
    reply, tokens = streamed(SSEReply(answer_chunks("half", done=False)))
    assert (reply.text, reply.complete, tokens) == ("half", False, ["half"])


def test_a_stream_whose_connection_breaks_is_unavailable() -> None:
    with pytest.raises(ModelUnavailable):
        streamed(SSEReply(answer_chunks("half", done=False), ending="cut"))


def test_a_stream_that_falls_silent_is_a_timeout() -> None:
    with pytest.raises(ModelTimeout):
        streamed(SSEReply(answer_chunks("half", done=False), ending="silent"), read_s=0.1)


def test_a_server_that_leaves_the_stream_open_after_done_does_not_hold_us_up() -> None:
    reply, _ = streamed(SSEReply(answer_chunks("all"), ending="silent"), read_s=60.0)
    assert (reply.text, reply.complete) == ("all", True)


@pytest.mark.parametrize(
    ("chunks", "told"),
    [
        ([event('{"error":{"message":"out of memory"}}')], "out of memory"),
        ([event('{"choices":[]}'), event("[DONE]")], "expected a stream with text or tool calls"),
        ([], "an empty body"),
        (["<html>busy</html>"], "<html>busy</html>"),
        (['{"error":"', 'broken"}'], "broken"),
    ],
)
def test_a_stream_that_says_nothing_says_why(chunks: list[str], told: str) -> None:
    with pytest.raises(ModelReplyError, match=told):
        streamed(SSEReply(chunks))


def test_streams_one_after_another_share_one_connection() -> None:
    async def ask(provider: OpenAIProvider) -> None:
        for _ in range(3):
            await provider.stream(REQUEST, lambda _token: None)

    with ScriptedModelServer([SSEReply(answer_chunks("a"))] * 3) as server:
        with_provider(server.base_url, ask)
        assert server.connections == 1


def test_cancelling_a_stream_closes_its_connection() -> None:
    async def ask(provider: OpenAIProvider, server: ScriptedModelServer) -> None:
        begun = asyncio.Event()
        call = asyncio.create_task(provider.stream(REQUEST, lambda _token: begun.set()))
        await begun.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await asyncio.to_thread(server.wait_until, lambda it: it.hangups == 1)

    script = [SSEReply(answer_chunks("a", done=False), ending="silent")]
    with ScriptedModelServer(script) as server:
        with_provider(server.base_url, lambda it: ask(it, server))


def test_an_error_in_the_token_sink_closes_the_connection_and_comes_out() -> None:
    class Full(Exception):
        pass

    def sink(_token: str) -> None:
        raise Full

    script = [SSEReply(answer_chunks("a", done=False), ending="silent")]
    with ScriptedModelServer(script) as server:
        with pytest.raises(Full):
            with_provider(server.base_url, lambda it: it.stream(REQUEST, sink))
        server.wait_until(lambda it: it.hangups == 1)


@pytest.mark.parametrize("reply", [JsonReply({"data": []}), JsonReply({}, status=401)])
def test_a_server_that_answers_is_available(reply: Reply) -> None:
    with ScriptedModelServer(routes={"GET /models": reply}) as server:
        assert with_provider(server.base_url, lambda it: it.available())


def test_nobody_there_is_not_available() -> None:
    assert not with_provider(f"http://127.0.0.1:{unused_port()}/v1", lambda it: it.available())


def test_nothing_has_to_be_prepared() -> None:
    with ScriptedModelServer() as server:
        with_provider(server.base_url, lambda it: it.prepare("m", 4096))
        assert server.requests == []


def test_it_is_a_provider_with_the_name_it_was_given() -> None:
    provider: ModelProvider = OpenAIProvider(ModelHttp(), "http://h", name="local", local=True)
    assert (provider.name, provider.local) == ("local", True)


def test_a_key_that_cannot_be_sent_is_refused_at_once() -> None:
    options: dict[str, Any] = {"api_key": "two words"}
    with pytest.raises(ConfigError, match="api_key"):
        OpenAIProvider(ModelHttp(), "http://h", **options)


def test_a_thousand_calls_at_once_all_answer() -> None:
    async def ask(provider: OpenAIProvider) -> int:
        replies = await asyncio.gather(*(provider.generate(REQUEST) for _ in range(1000)))
        return sum(reply.text == "hi" for reply in replies)

    with ScriptedModelServer(lambda _request: answer("hi")) as server:
        assert with_provider(server.base_url, ask, read_s=60.0) == 1000
