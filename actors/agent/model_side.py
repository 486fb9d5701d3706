"""Which provider, protocol and rules an agent's configuration asks for."""

from __future__ import annotations

from msgspec.structs import replace

from actors.agent.rules import GAIA, TurnRules
from actors.config import AgentConfig
from actors.model.catalogue import traits_of
from actors.model.gateway import ServerAddress, SharedProvider, shared_provider
from actors.protocol.native import NativeToolCalls, use_native
from actors.protocol.prompt_json import PromptJson
from actors.protocol.protocol import Protocol
from runtime import ActorSystem


async def open_provider(system: ActorSystem, config: AgentConfig) -> SharedProvider:
    """The provider that the agents of a system share for this configuration."""
    address = ServerAddress(
        config.provider,
        config.base_url,
        config.api_key,
        config.connect_timeout_s,
        config.request_timeout_s,
        config.calls_at_once,
        config.model if config.provider == "local" else "",
        config.context_size if config.provider == "local" else 0,
    )
    return await shared_provider(system, address)


def protocol_for(config: AgentConfig) -> Protocol:
    """Native tool calls by policy and what is known of the model, else the prompt protocol."""
    prompted = PromptJson(config.response_mode)
    native = use_native(config.native_tool_calls, config.model)
    if config.provider == "local" and config.native_tool_calls == "auto":
        native = traits_of(config.model).native_tool_calls
    return NativeToolCalls(prompted) if native else prompted


def rules_for(config: AgentConfig) -> TurnRules:
    """How a turn behaves: GAIA's rules, with what a small model on this machine needs."""
    if config.provider != "local":
        return GAIA
    traits = traits_of(config.model)
    return replace(
        GAIA,
        answer_without_tools_after_result=traits.answer_without_tools_after_result,
        repeat_means_answer=traits.repeat_means_answer,
    )
