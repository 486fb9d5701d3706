"""The model gateway: one actor per system that owns the HTTP connections and one provider per server.

All agents of a system share it, so a thousand agents on one server share its connections and its limit
of calls at once. It hands out providers and is not in the way of requests: those run in the agents'
own tasks.
"""

from __future__ import annotations

from typing import Any, ClassVar, cast

from msgspec import Struct

from actors.errors import AgentError, ConfigError
from actors.model.http import ModelHttp, Timeouts
from actors.model.lemonade import LemonadeProvider
from actors.model.limiter import LimitedProvider
from actors.model.local import LocalProvider
from actors.model.local_model import address_lost, address_of, local_model
from actors.model.local_process import LocalServerOptions
from actors.model.model_files import find_model
from actors.model.openai import OpenAIProvider
from actors.model.provider import ModelProvider
from actors.model.retrying import RetryingProvider
from runtime import Actor, ActorRef, ActorSystem, Reply


class ServerAddress(Struct, frozen=True):
    """Which model server, spoken to how: equal addresses share a provider.

    `calls_at_once` bounds the calls that run at one time (0: no bound); the others wait in order. For the
    provider `local`, `model` names the model to serve and `context_size` its window in tokens.
    """

    provider: str
    base_url: str
    api_key: str = ""
    connect_timeout_s: float = 30.0
    read_timeout_s: float = 120.0
    calls_at_once: int = 0
    model: str = ""
    context_size: int = 0

    def __repr__(self) -> str:
        """Without the key."""
        return f"ServerAddress({self.provider!r}, {self.base_url!r})"


class OpenProvider(Struct, frozen=True):
    """Ask for the shared provider of a server; the answer is a `SharedProvider`."""

    address: ServerAddress


class SharedProvider(Struct, frozen=True):
    """The one provider of a server, good until the gateway that gave it ends."""

    provider: ModelProvider
    http: ModelHttp

    @property
    def closed(self) -> bool:
        """Whether its connections are closed for good, and the gateway has to be asked again."""
        return self.http.closed


class ModelGateway(Actor):
    """See the module. Its connections are closed when it ends, and with them what runs on them."""

    expected_errors: ClassVar[tuple[type[BaseException], ...]] = (AgentError,)

    def __init__(self) -> None:
        super().__init__()
        self._http: dict[Timeouts, ModelHttp] = {}
        self._providers: dict[ServerAddress, SharedProvider] = {}

    def on_receive(self, message: Any) -> Any:
        """Answer with the provider of an address."""
        match message:
            case OpenProvider(address):
                if address not in self._providers:
                    self._providers[address] = self._open(address)
                return self._providers[address]
        return super().on_receive(message)

    def _open(self, address: ServerAddress) -> SharedProvider:
        timeouts = Timeouts(address.connect_timeout_s, address.read_timeout_s)
        http = self._http.setdefault(timeouts, ModelHttp(timeouts=timeouts))
        local = address.provider == "local"
        provider = self._local(http, address) if local else provider_over(http, address)
        return SharedProvider(wrap_provider(provider, address.calls_at_once), http)

    def _local(self, http: ModelHttp, address: ServerAddress) -> ModelProvider:
        model = find_model(address.model)
        options = LocalServerOptions(
            template=model.traits.template, context_size=address.context_size
        )
        server = local_model(self.system, model, options)
        return LocalProvider(
            http, lambda: address_of(server), lambda base_url: address_lost(server, base_url)
        )

    async def on_stop(self) -> None:
        """Close the connections."""
        for http in self._http.values():
            await http.aclose()

    async def on_failure(self, *_: object) -> None:
        """Close the connections."""
        await self.on_stop()


def provider_over(http: ModelHttp, address: ServerAddress) -> ModelProvider:
    """The provider of that kind on an HTTP client. Raises ConfigError for a kind without one."""
    match address.provider:
        case "openai":
            return OpenAIProvider(http, address.base_url, api_key=address.api_key)
        case "ollama":
            base_url = f"{address.base_url.rstrip('/')}/v1"
            return OpenAIProvider(http, base_url, name="ollama", local=True)
        case "lemonade":
            return LemonadeProvider(http, address.base_url, api_key=address.api_key)
    raise ConfigError("provider", f"expected openai, lemonade or ollama, got {address.provider!r}")


def wrap_provider(provider: ModelProvider, calls_at_once: int) -> ModelProvider:
    """The provider with the waits of its server honoured and its calls at once bounded."""
    patient: ModelProvider = RetryingProvider(provider)
    return LimitedProvider(patient, calls_at_once) if calls_at_once > 0 else patient


def model_gateway(system: ActorSystem) -> ActorRef[ModelGateway]:
    """The gateway that all agents of a system share, started when it is first needed."""
    return system.ensure(ModelGateway, name="model-gateway")


def shared_provider(system: ActorSystem, address: ServerAddress) -> Reply[SharedProvider]:
    """The provider that all agents of a system share for that server; await it on the loop."""
    answer = model_gateway(system).aask(OpenProvider(address), timeout=30.0)
    return cast("Reply[SharedProvider]", answer)
