"""A Lemonade server: its endpoints, and how a model is made ready."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

import pytest

from actors.errors import ModelHTTPError, ModelUnavailable
from actors.model.base_url import DEFAULT_LEMONADE_URL
from actors.model.http import ModelHttp
from actors.model.lemonade import LemonadeProvider
from actors.model.lemonade_client import Health, LemonadeClient, ServerStatus
from actors.testing import (
    BodyReply,
    Failure,
    JsonReply,
    Reply,
    ScriptedModelServer,
    SSEReply,
    answer,
    answer_chunks,
    unused_port,
)

T = TypeVar("T")
LOADED = {
    "status": "ok",
    "all_models_loaded": [{"model_name": "m", "recipe_options": {"ctx_size": 4096}}],
}
LISTED = {"data": [{"id": "Qwen3-0.6B-GGUF"}, {"id": "other"}, "nonsense"]}


def with_client(base_url: str, work: Callable[[LemonadeClient], Awaitable[T]]) -> T:
    async def main() -> T:
        http = ModelHttp()
        try:
            return await work(LemonadeClient(http, base_url, environ={}))
        finally:
            await http.aclose()

    return asyncio.run(main())


def prepare(base_url: str, model: str, context_size: int) -> None:
    async def main() -> None:
        http = ModelHttp()
        try:
            await LemonadeProvider(http, base_url, environ={}).prepare(model, context_size)
        finally:
            await http.aclose()

    asyncio.run(main())


def health_route(value: Any) -> dict[str, Reply]:
    return {"GET /health": JsonReply(value)}


def nobody() -> str:
    return f"http://127.0.0.1:{unused_port()}"


@pytest.mark.parametrize(
    ("value", "health"),
    [
        (LOADED, Health(True, "ok", "m", 4096, LOADED)),
        ({"status": "ok"}, Health(True, "ok", raw={"status": "ok"})),
        (
            {"status": 7, "all_models_loaded": "x"},
            Health(True, "", raw={"status": 7, "all_models_loaded": "x"}),
        ),
        ({"all_models_loaded": [None]}, Health(True, raw={"all_models_loaded": [None]})),
    ],
)
def test_health_is_read_leniently(value: Any, health: Health) -> None:
    with ScriptedModelServer(routes=health_route(value)) as server:
        assert with_client(server.root_url, lambda client: client.health()) == health


def test_nobody_there_is_not_running_and_raises_nothing() -> None:
    url = nobody()
    assert with_client(url, lambda client: client.health()) == Health(False)
    assert not with_client(url, lambda client: client.is_server_running())
    assert not with_client(url, lambda client: client.ready())
    assert with_client(url, lambda client: client.status()) == ServerStatus(Health(False))


def test_a_server_that_refuses_runs_but_is_not_ready() -> None:
    busy = {"GET /health": JsonReply({"error": {"message": "Loading model"}}, status=503)}
    with ScriptedModelServer(routes=busy) as server:
        assert with_client(server.root_url, lambda client: client.is_server_running())
        assert not with_client(server.root_url, lambda client: client.ready())


def test_status_is_health_and_models() -> None:
    routes = {**health_route(LOADED), "GET /models": JsonReply(LISTED)}
    with ScriptedModelServer(routes=routes) as server:
        status = with_client(server.root_url, lambda client: client.status())
    assert status.health.model == "m"
    assert [each["id"] for each in status.models] == ["Qwen3-0.6B-GGUF", "other"]


def test_status_does_without_models_that_cannot_be_listed() -> None:
    routes = {**health_route(LOADED), "GET /models": BodyReply("<html>")}
    with ScriptedModelServer(routes=routes) as server:
        status = with_client(server.root_url, lambda client: client.status())
    assert (status.health.running, status.models) == (True, ())


@pytest.mark.parametrize(("model", "loaded"), [("qwen3-0.6b-gguf", True), ("qwen3", False)])
def test_a_model_is_looked_up_without_regard_to_case(model: str, loaded: bool) -> None:
    with ScriptedModelServer(routes={"GET /models": JsonReply(LISTED)}) as server:
        found = with_client(server.root_url, lambda client: client.check_model_loaded(model))
    assert found == loaded


@pytest.mark.parametrize(
    ("health", "tokens", "fits"),
    [(LOADED, 4096, True), (LOADED, 4097, False), ({"status": "ok"}, 9_999_999, True)],
)
def test_a_context_is_too_small_only_if_the_server_says_so(
    health: Any, tokens: int, fits: bool
) -> None:
    with ScriptedModelServer(routes=health_route(health)) as server:
        found, text = with_client(
            server.root_url, lambda client: client.validate_context_size(tokens)
        )
    assert found == fits
    assert ("4097 are needed" in text) == (not fits)


def test_each_endpoint_is_asked_at_its_path() -> None:
    routes: dict[str, Reply] = {
        "GET /models/a%2Fb": JsonReply({"id": "a/b"}),
        "POST /unload": JsonReply({"status": "success"}),
        "GET /stats": JsonReply({"tokens_per_second": 30}),
        "GET /system-info": JsonReply({"OS": "x"}),
        "POST /params": BodyReply(""),
    }

    async def ask(client: LemonadeClient) -> None:
        assert await client.models(show_all=True) == []
        assert await client.model_details("a/b") == {"id": "a/b"}
        assert await client.load("m", 2048) == {"status": "success"}
        assert client.model == "m"
        await client.load("n")
        assert await client.unload() == {"status": "success"}
        assert client.model == ""
        assert await client.stats() == {"tokens_per_second": 30}
        assert await client.system_info() == {"OS": "x"}
        assert await client.system_info(verbose=True) == {"OS": "x"}
        assert await client.set_params({"temperature": 1}) == {}

    with ScriptedModelServer(routes=routes) as server:
        with_client(server.root_url, ask)
        assert [each.json for each in server.loads] == [
            {"model_name": "m", "ctx_size": 2048},
            {"model_name": "n"},
        ]
        assert all(each.path.startswith("/api/v1/") for each in server.requests)
        queries = [each.query for each in server.requests if each.query]
        assert queries == ["show_all=true", "verbose=true"]
        assert server.requests[-1].json == {"temperature": 1}


def test_what_is_refused_is_raised() -> None:
    with ScriptedModelServer() as server, pytest.raises(ModelHTTPError, match="404"):
        with_client(server.root_url, lambda client: client.stats())


def test_chat_completions_returns_the_raw_text() -> None:
    with ScriptedModelServer([answer("hi")]) as server:
        text = with_client(server.root_url, lambda client: client.chat_completions({"a": 1}))
        assert '"content":"hi"' in text
        assert server.chats[0].json == {"a": 1}


def test_chat_completions_streaming_returns_raw_bytes_and_passes_tokens() -> None:
    tokens: list[str] = []
    chunks = answer_chunks("a", "b")
    with ScriptedModelServer([SSEReply(chunks)]) as server:
        raw, calls = with_client(
            server.root_url,
            lambda client: client.chat_completions_streaming({"a": 1}, tokens.append),
        )
        assert server.chats[0].json == {"a": 1, "stream": True}
    assert (raw, calls, tokens) == ("".join(chunks).encode(), [], ["a", "b"])


@pytest.mark.parametrize(
    ("environ", "base_url", "model"),
    [
        ({}, DEFAULT_LEMONADE_URL, ""),
        ({"LEMONADE_BASE_URL": "http://h", "LEMONADE_MODEL": "m"}, "http://h/api/v1", "m"),
    ],
)
def test_address_and_model_come_from_the_environment(
    environ: Mapping[str, str], base_url: str, model: str
) -> None:
    client = LemonadeClient(ModelHttp(), environ=environ)
    assert (client.base_url, client.model) == (base_url, model)


@pytest.mark.parametrize(
    ("path", "model", "context_size", "health", "loads"),
    [
        ("/api/v1", "m", 4096, LOADED, []),
        ("/api/v1", "m", 0, LOADED, []),
        ("", "m", 0, LOADED, []),
        ("/api/v1", "", 4096, LOADED, []),
        ("/v1", "m", 8192, LOADED, []),
        ("/api/v1", "m", 8192, LOADED, [{"model_name": "m", "ctx_size": 8192}]),
        ("/api/v1", "n", 0, LOADED, [{"model_name": "n"}]),
        ("/api/v1", "m", 0, {"status": "ok"}, [{"model_name": "m"}]),
    ],
)
def test_a_model_is_loaded_only_where_it_is_not_ready(
    path: str, model: str, context_size: int, health: Any, loads: list[Any]
) -> None:
    with ScriptedModelServer(routes=health_route(health)) as server:
        prepare(f"{server.root_url}{path}", model, context_size)
        assert [each.json for each in server.loads] == loads


def test_a_load_that_fails_raises() -> None:
    with ScriptedModelServer(routes={"POST /load": Failure("cut")}) as server:
        with pytest.raises(ModelUnavailable):
            prepare(server.root_url, "m", 0)


def test_the_provider_is_available_when_the_server_answers() -> None:
    async def available(base_url: str) -> bool:
        http = ModelHttp()
        provider = LemonadeProvider(http, base_url, environ={})
        assert (provider.name, provider.local) == ("lemonade", True)
        try:
            return await provider.available()
        finally:
            await http.aclose()

    with ScriptedModelServer() as server:
        assert asyncio.run(available(server.root_url))
    assert not asyncio.run(available(nobody()))
