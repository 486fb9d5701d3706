"""A served model and the turns of an agent with the demonstration tools on it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from actors.agent.conversation import Conversation
from actors.agent.parts import TurnParts
from actors.agent.prompt_cache import PromptCache
from actors.agent.result import TurnResult
from actors.agent.rules import GAIA
from actors.agent.turn import Turn
from actors.cli.demo_tools import DEMO_TOOLS
from actors.config import AgentConfig
from actors.model.http import ModelHttp
from actors.model.local import LocalProvider
from actors.model.message import Message
from actors.model.model_files import FoundModel
from actors.model.provider import ModelReply, ModelRequest
from actors.model.toolspec import ToolSpec
from actors.protocol.native import NativeToolCalls
from actors.protocol.prompt_json import PromptJson
from actors.tools.authorize import authorize
from actors.tools.decision import Refused
from actors.tools.registry import ToolRegistry


class DemoRunner:
    """The demonstration tools, checked as an agent checks them, run in place. `ran` lists the calls."""

    version = 1

    def __init__(self) -> None:
        self._registry = ToolRegistry()
        for tool in DEMO_TOOLS:
            self._registry.register(tool)
        self.ran: list[tuple[str, dict[str, Any]]] = []

    def specs(self) -> Sequence[ToolSpec]:
        """All of them."""
        return self._registry.specs()

    def parallel_safe(self, names: Sequence[str]) -> bool:
        """One after the other."""
        return False

    async def run(self, name: str, args: dict[str, Any]) -> Any:
        """Check and run a call."""
        self.ran.append((name, args))
        verdict = await authorize(self._registry, name, args, approver=None, store=None)
        if isinstance(verdict, Refused):
            return {"status": "error", "error": verdict.error}
        result = verdict.tool.run(verdict.args)
        return await result if inspect.isawaitable(result) else result


@dataclass(frozen=True)
class Answered:
    """What came of a question: the calls made, and how the turn ended."""

    calls: list[tuple[str, dict[str, Any]]]
    result: TurnResult


class Served:
    """Real turns against a real model, each a new conversation, always at temperature 0."""

    def __init__(self, runner: asyncio.Runner, base_url: str, model: FoundModel) -> None:
        self._runner = runner
        self.base_url = base_url
        self.model = model

    def ask(self, question: str, *, streaming: bool = False) -> Answered:
        """Run one turn, by the rules the model wants."""
        return self._runner.run(self._ask(question, streaming))

    def generate(self, request: ModelRequest) -> ModelReply:
        """Make one call of the model."""
        return self._runner.run(self._generate(request))

    async def _ask(self, question: str, streaming: bool) -> Answered:
        tools, traits = DemoRunner(), self.model.traits
        rules = msgspec.structs.replace(
            GAIA,
            answer_without_tools_after_result=traits.answer_without_tools_after_result,
            repeat_means_answer=traits.repeat_means_answer,
        )
        protocol = NativeToolCalls(PromptJson())
        http = ModelHttp()
        try:
            parts = TurnParts(
                config=AgentConfig(
                    model=self.model.name,
                    temperature=0.0,
                    max_tokens=256,
                    max_steps=4,
                    streaming=streaming,
                ),
                rules=rules,
                protocol=protocol,
                provider=LocalProvider(http, self._address),
                tools=tools,
                prompt=PromptCache(protocol, "", tools),
            )
            result = await Turn(parts, Conversation()).run([Message("user", question)])
        finally:
            await http.aclose()
        return Answered(tools.ran, result)

    async def _generate(self, request: ModelRequest) -> ModelReply:
        http = ModelHttp()
        try:
            return await LocalProvider(http, self._address).generate(request)
        finally:
            await http.aclose()

    async def _address(self) -> str:
        return self.base_url
