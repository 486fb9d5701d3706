"""The gateway: one provider per server for all agents of a system, on connections that it owns."""

from __future__ import annotations

import pytest

from actors import ConfigError
from actors.model.gateway import (
    OpenProvider,
    ServerAddress,
    model_gateway,
    provider_over,
    shared_provider,
    wrap_provider,
)
from actors.model.http import ModelHttp
from actors.testing import answer
from runtime import ActorRestarted, ActorSystem
from tests.actors.agent.on_loop import on_loop
from tests.actors.agent.stage import LIMIT_S, Stage, ask

HERE = ServerAddress("openai", "http://127.0.0.1:9/v1")


def test_a_system_has_one_gateway_among_its_services() -> None:
    with ActorSystem() as system:
        assert model_gateway(system) is model_gateway(system)
        assert model_gateway(system).path == "/services/model-gateway"


def test_two_systems_share_nothing() -> None:
    with ActorSystem() as one, ActorSystem() as two:
        first = shared_provider(one, HERE).get(timeout=LIMIT_S)
        assert first is not shared_provider(two, HERE).get(timeout=LIMIT_S)


@pytest.mark.parametrize(
    "other",
    [
        ServerAddress("openai", "http://127.0.0.1:10/v1"),
        ServerAddress("openai", "http://127.0.0.1:9/v1", "a-key"),
        ServerAddress("openai", "http://127.0.0.1:9/v1", read_timeout_s=1.0),
        ServerAddress("openai", "http://127.0.0.1:9/v1", calls_at_once=2),
    ],
)
def test_only_equal_addresses_share_a_provider(other: ServerAddress) -> None:
    with ActorSystem() as system:
        first = shared_provider(system, HERE).get(timeout=LIMIT_S)
        same = ServerAddress("openai", "http://127.0.0.1:9/v1")
        assert shared_provider(system, same).get(timeout=LIMIT_S) is first
        assert shared_provider(system, other).get(timeout=LIMIT_S) is not first


def test_a_key_is_not_in_the_words_of_an_address() -> None:
    assert "secret" not in repr(ServerAddress("openai", "http://x/v1", "secret"))


@pytest.mark.parametrize("kind", ["openai", "ollama", "lemonade"])
@on_loop
async def test_each_kind_of_server_has_its_provider(kind: str) -> None:
    http = ModelHttp()
    try:
        provider = provider_over(http, ServerAddress(kind, "http://127.0.0.1:9/api/v1"))
        assert provider.name == kind
        assert wrap_provider(provider, 3).name == kind
        assert provider.local is (kind != "openai")
    finally:
        await http.aclose()


def test_a_kind_without_a_provider_is_told_and_the_gateway_lives_on() -> None:
    with ActorSystem() as system:
        with pytest.raises(ConfigError, match="nowhere"):
            shared_provider(system, ServerAddress("nowhere", "x")).get(timeout=LIMIT_S)
        assert shared_provider(system, HERE).get(timeout=LIMIT_S).provider.name == "openai"


def test_agents_on_one_server_share_its_connections() -> None:
    with Stage(lambda _: answer("hello")) as stage:
        agents = [stage.agent() for _ in range(10)]
        assert [ask(agent).result for agent in agents] == ["hello"] * 10
        assert stage.server.connections == 1


def test_calls_at_once_bounds_the_requests_of_all_agents_together() -> None:
    with Stage(lambda _: answer("hello")) as stage:
        agents = [stage.agent(calls_at_once=2) for _ in range(20)]
        replies = [agent.aprocess_query("hi") for agent in agents]
        assert {reply.get(timeout=LIMIT_S).result for reply in replies} == {"hello"}
        assert stage.server.connections <= 2


def test_agents_go_on_when_the_gateway_failed_and_came_back() -> None:
    with Stage([answer("one"), answer("two")]) as stage:
        told: list[object] = []
        stage.system.events.subscribe(told.append, ActorRestarted)
        agent = stage.agent()
        assert ask(agent).result == "one"
        gateway = model_gateway(stage.system)
        gateway.tell(OpenProvider(ServerAddress("nowhere", "x")))  # nobody asked, so it fails
        gateway.ask(OpenProvider(HERE), timeout=LIMIT_S)
        assert told
        assert ask(agent).result == "two"
