"""What the turns of an agent have in common until its configuration changes."""

from __future__ import annotations

from msgspec import Struct, field

from actors.agent.prompt_cache import PromptCache
from actors.agent.readiness import ModelReadiness
from actors.agent.rules import TurnRules
from actors.agent.tool_runner import ToolRunner
from actors.config import AgentConfig
from actors.model.provider import ModelProvider
from actors.protocol.protocol import Protocol


class TurnParts(Struct, frozen=True):
    """The parts a turn works with; a changed configuration means new parts.

    `prompt` is made with the same protocol and tools. `readiness` goes over into new parts unless the
    model or the provider changed.
    """

    config: AgentConfig
    rules: TurnRules
    protocol: Protocol
    provider: ModelProvider
    tools: ToolRunner
    prompt: PromptCache
    readiness: ModelReadiness = field(default_factory=ModelReadiness)
