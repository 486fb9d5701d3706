"""Which provider, protocol and rules an agent's configuration asks for."""

from __future__ import annotations

from actors.agent.rules import GAIA, TurnRules
from actors.config import AgentConfig
from actors.model.gateway import ServerAddress, shared_provider
from actors.model.provider import ModelProvider
from actors.protocol.native import NativeToolCalls, use_native
from actors.protocol.prompt_json import PromptJson
from actors.protocol.protocol import Protocol
from runtime import ActorSystem


async def open_provider(system: ActorSystem, config: AgentConfig) -> ModelProvider:
    """The provider that the agents of a system share for this configuration."""
    address = ServerAddress(
        config.provider,
        config.base_url,
        config.api_key,
        config.connect_timeout_s,
        config.request_timeout_s,
        config.calls_at_once,
    )
    return await shared_provider(system, address)


def protocol_for(config: AgentConfig) -> Protocol:
    """Native tool calls by policy and table, else the prompt protocol in the configured mode."""
    prompted = PromptJson(config.response_mode)
    return (
        NativeToolCalls(prompted)
        if use_native(config.native_tool_calls, config.model)
        else prompted
    )


def rules_for(config: AgentConfig) -> TurnRules:  # noqa: ARG001 - the local provider has rules of its own
    """How a turn behaves."""
    return GAIA
