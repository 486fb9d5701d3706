"""The local provider against a scripted server: where the server is, and replies of small models."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec
import pytest
from msgspec import Raw

from actors.errors import LocalModelError, ModelHTTPError
from actors.model.http import ModelHttp
from actors.model.local import FindServer, LocalProvider
from actors.model.provider import ModelRequest
from actors.testing import (
    JsonReply,
    Reply,
    ScriptedModelServer,
    SSEReply,
    answer,
    answer_chunks,
    tool_calls,
)

T = TypeVar("T")
ADD = {
    "type": "function",
    "function": {
        "name": "add",
        "parameters": {"type": "object", "properties": {"a": {}, "b": {}}},
    },
}
REQUEST = ModelRequest(
    "m",
    (Raw(b'{"role":"user","content":"hi"}'),),
    max_tokens=9,
    temperature=0.0,
    tools=Raw(msgspec.json.encode([ADD])),
)
WITHOUT_TOOLS = msgspec.structs.replace(REQUEST, tools=None)
UNREADABLE = {"error": {"message": "output that does not match the expected peg-native format"}}


def with_provider(find: FindServer, work: Callable[[LocalProvider], Awaitable[T]]) -> T:
    """What `work` makes of a provider."""

    async def main() -> T:
        http = ModelHttp()
        try:
            return await work(LocalProvider(http, find))
        finally:
            await http.aclose()

    return asyncio.run(main())


def at(*base_urls: str) -> FindServer:
    """A server that is at these addresses, one after another."""
    left = list(base_urls)

    async def find() -> str:
        return left.pop(0) if len(left) > 1 else left[0]

    return find


async def nowhere() -> str:
    """There is no server."""
    raise LocalModelError("no model here")


def test_each_call_goes_where_the_server_is_by_then() -> None:
    async def twice(provider: LocalProvider) -> list[str | None]:
        return [(await provider.generate(REQUEST)).text for _ in range(2)]

    with (
        ScriptedModelServer([answer("one")]) as first,
        ScriptedModelServer([answer("two")]) as second,
    ):
        texts = with_provider(at(first.base_url, second.base_url), twice)
    assert texts == ["one", "two"]


def test_without_a_server_a_call_says_why() -> None:
    with pytest.raises(LocalModelError, match="no model here"):
        with_provider(nowhere, lambda provider: provider.generate(REQUEST))


def test_preparing_waits_for_the_server() -> None:
    with pytest.raises(LocalModelError, match="no model here"):
        with_provider(nowhere, lambda provider: provider.prepare("m", 0))


def test_it_is_available_where_a_server_answers() -> None:
    with ScriptedModelServer() as server:
        assert with_provider(at(server.base_url), lambda provider: provider.available())
    assert not with_provider(nowhere, lambda provider: provider.available())


def test_arguments_the_tool_does_not_have_are_dropped_from_a_reply() -> None:
    reply = tool_calls(("c1", "add", '{"a":1,"b":2,"type":"object"}'))
    with ScriptedModelServer([reply]) as server:
        got = with_provider(at(server.base_url), lambda provider: provider.generate(REQUEST))
    assert msgspec.json.decode(got.tool_calls[0]["function"]["arguments"]) == {"a": 1, "b": 2}


def streamed(provider: LocalProvider, tokens: list[str]) -> Awaitable[Any]:
    """Stream the request with tools."""
    return provider.stream(REQUEST, tokens.append)


@pytest.mark.parametrize(
    "first", [JsonReply(UNREADABLE, status=500), JsonReply(UNREADABLE)], ids=str
)
def test_a_reply_llama_cpp_cannot_read_is_asked_for_again_without_tools(first: Reply) -> None:
    with ScriptedModelServer([first, answer("a joke")]) as server:
        got = with_provider(at(server.base_url), lambda provider: provider.generate(REQUEST))
        assert got.text == "a joke"
        assert ["tools" in chat.json for chat in server.chats] == [True, False]


def test_a_streamed_reply_it_cannot_read_is_asked_for_again_without_tools() -> None:
    broken = SSEReply([f"data: {msgspec.json.encode(UNREADABLE).decode()}\n\n"])
    tokens: list[str] = []
    with ScriptedModelServer([broken, SSEReply(answer_chunks("a ", "joke"))]) as server:
        got = with_provider(at(server.base_url), lambda provider: streamed(provider, tokens))
        assert ["tools" in chat.json for chat in server.chats] == [True, False]
    assert (got.text, tokens) == ("a joke", ["a ", "joke"])


def test_it_is_not_asked_for_again_where_no_tools_were_offered() -> None:
    with ScriptedModelServer([JsonReply(UNREADABLE, status=500)]) as server:
        with pytest.raises(ModelHTTPError):
            with_provider(at(server.base_url), lambda provider: provider.generate(WITHOUT_TOOLS))


def test_other_failures_are_not_asked_for_again() -> None:
    with ScriptedModelServer([JsonReply({"error": {"message": "no"}}, status=500)]) as server:
        with pytest.raises(ModelHTTPError):
            with_provider(at(server.base_url), lambda provider: provider.generate(REQUEST))
