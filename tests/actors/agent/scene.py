"""What tests of the turn need: a scripted server, the real client, tools made of functions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

import msgspec

from actors.agent.cancel import CancelToken
from actors.agent.conversation import Conversation
from actors.agent.parts import TurnParts
from actors.agent.prompt_cache import PromptCache
from actors.agent.result import TurnResult
from actors.agent.rules import GAIA, TurnRules
from actors.agent.tool_runner import ToolRunner
from actors.agent.turn import Turn
from actors.config import AgentConfig
from actors.model.http import ModelHttp
from actors.model.message import Message
from actors.model.openai import OpenAIProvider
from actors.model.toolspec import ToolSpec
from actors.output.events import EventSink, TurnEvent
from actors.protocol.native import NativeToolCalls
from actors.protocol.prompt_json import PromptJson
from actors.protocol.protocol import Protocol
from actors.testing import JsonReply, ScriptedModelServer, answer

ToolFunction = Callable[[dict[str, Any]], Awaitable[Any]]


class FunctionTools:
    """Tools made of async functions; those named in `safe` may overlap. `ran` lists the calls begun."""

    def __init__(self, safe: Iterable[str] = (), **functions: ToolFunction) -> None:
        self.functions = functions
        self.safe = set(safe)
        self.version = 1
        self.ran: list[str] = []

    def specs(self) -> Sequence[ToolSpec]:
        """One spec without parameters per function."""
        return tuple(ToolSpec(name) for name in sorted(self.functions))

    def parallel_safe(self, names: Sequence[str]) -> bool:
        """Whether all were named safe."""
        return self.safe.issuperset(names)

    async def run(self, name: str, args: dict[str, Any]) -> Any:
        """Call the function."""
        self.ran.append(name)
        function = self.functions.get(name)
        if function is None:
            return {"status": "error", "error": f"tool {name!r} not found"}
        return await function(args)


async def echo(args: dict[str, Any]) -> Any:
    """Gives its arguments back."""
    return {"args": args}


async def boom(args: dict[str, Any]) -> Any:
    """Fails as tools fail."""
    return {"status": "error", "error": "disk full"}


async def for_ever(args: dict[str, Any]) -> Any:
    """Ends only by being cancelled."""
    await asyncio.get_running_loop().create_future()


def say(**envelope: Any) -> JsonReply:
    """A reply that holds an envelope of the prompt protocol."""
    return answer(msgspec.json.encode(envelope).decode())


def use(tool: str, **args: Any) -> JsonReply:
    """A reply that names a tool, in the prompt protocol."""
    return say(tool=tool, tool_args=args)


class Scene:
    """Turns against a scripted server, over the real client, on one conversation."""

    def __init__(
        self,
        server: ScriptedModelServer,
        tools: ToolRunner,
        *,
        native: bool = False,
        rules: TurnRules = GAIA,
        own_prompt: str = "",
        **settings: Any,
    ) -> None:
        protocol: Protocol = NativeToolCalls(PromptJson()) if native else PromptJson()
        self.http = ModelHttp()
        self.parts = TurnParts(
            config=AgentConfig(model="m", **settings),
            rules=rules,
            protocol=protocol,
            provider=OpenAIProvider(self.http, server.base_url),
            tools=tools,
            prompt=PromptCache(protocol, own_prompt, tools),
        )
        self.conversation = Conversation()
        self.cancel = CancelToken()
        self.events: list[TurnEvent] = []
        self.sink: EventSink = self.events.append

    async def __aenter__(self) -> Scene:
        """The scene itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the client."""
        await self.http.aclose()

    async def play(self, text: str = "do it", *, max_steps: int = 0) -> TurnResult:
        """Run one turn to its end."""
        turn = Turn(
            self.parts,
            self.conversation,
            sink=self.sink,
            cancel=self.cancel,
            max_steps=max_steps,
        )
        return await turn.run([Message("user", text)])

    def history(self) -> list[tuple[str, str]]:
        """Role and content of what was stored."""
        return [(each.role, each.content) for each in self.conversation.history()]
