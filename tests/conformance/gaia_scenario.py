"""Scenarios of gaia/agent_loop and gaia/native_tools: turns of an agent against a scripted model server.

Nothing is replaced: a real HTTP server on loopback speaks the scripted replies, and the real client,
provider, protocol, registry, executor and turn work on it. What came of it is an `Observed`, which
`scenario_checks` compares with the case.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

from actors.agent.cancel import CancelToken
from actors.agent.conversation import Conversation
from actors.agent.parts import TurnParts
from actors.agent.prompt_cache import PromptCache
from actors.agent.rules import GAIA
from actors.agent.turn import Turn
from actors.config import AgentConfig
from actors.errors import AgentError
from actors.model.http import ModelHttp
from actors.model.lemonade import LemonadeProvider
from actors.model.message import ImagePart, Message, Part, TextPart
from actors.protocol.native import NativeToolCalls, use_native
from actors.protocol.prompt_json import PromptJson
from actors.protocol.protocol import Protocol
from actors.testing import BodyReply, Failure, JsonReply, ScriptedModelServer, SSEReply
from actors.testing.replies import Reply
from actors.tools.approval import Approval, Approver, CallbackApprover
from actors.tools.executor import tool_executor
from actors.tools.policy import ToolPolicy
from actors.tools.registry import ToolRegistry
from actors.tools.runner import RegistryRunner
from actors.tools.tool import Tool
from runtime import ActorSystem
from tests.conformance.gaia_native_tools import tool_spec
from tests.conformance.scenario_checks import Observed


def run(given: dict[str, Any], tmp_path: Path) -> Observed:
    """Play one scenario."""
    routes: dict[str, Reply] = {}
    if "health" in given:
        routes["GET /health"] = JsonReply(given["health"])
    script = [_reply(each) for each in given.get("responses", [])]
    observed = Observed()
    with ScriptedModelServer(script, routes=routes) as server, ActorSystem() as system:
        asyncio.run(_play(given, server, system, observed))
        observed.requests = [each.json for each in server.chats]
        observed.loads = [each.json for each in server.loads]
    return observed


async def _play(
    given: dict[str, Any], server: ScriptedModelServer, system: ActorSystem, observed: Observed
) -> None:
    http = ModelHttp()
    config = _config(given.get("config", {}), server)
    stage = _Stage(observed)
    tools = RegistryRunner(
        stage.registry(given.get("tools", [])),
        tool_executor(system),
        approver=_approver(given.get("confirm")),
        store=None,
    )
    protocol = _protocol(config)
    parts = TurnParts(
        config=config,
        rules=GAIA,
        protocol=protocol,
        provider=LemonadeProvider(http, config.base_url),
        tools=tools,
        prompt=PromptCache(protocol, "", tools),
    )
    conversation = Conversation()
    try:
        for turn in given["turns"]:
            await stage.take_turn(turn, parts, conversation)
    finally:
        await http.aclose()
    observed.history = [message.wire() for message in conversation.history()]


class _Stage:
    """What the turns of a scenario share: the observations, and the token of the running turn."""

    def __init__(self, observed: Observed) -> None:
        self._observed = observed
        self._cancel = CancelToken()

    async def take_turn(
        self, given: str | dict[str, Any], parts: TurnParts, conversation: Conversation
    ) -> None:
        """One turn; its result or its error is noted."""
        turn: dict[str, Any] = {"query": given} if isinstance(given, str) else given
        self._cancel = CancelToken()
        playing = Turn(
            parts,
            conversation,
            sink=self._observed.events.append,
            cancel=self._cancel,
            max_steps=turn.get("max_steps", 0),
        )
        try:
            result = await playing.run(_messages(turn))
        except AgentError as error:
            self._observed.turns.append(error)
        else:
            self._observed.turns.append(result.to_dict())

    def registry(self, given: list[dict[str, Any]]) -> ToolRegistry:
        """The scenario's tools."""
        registry = ToolRegistry()
        for each in given:
            run = self._behaviour(each["name"], each["behaviour"])
            policy = ToolPolicy[each["policy"].upper()] if "policy" in each else None
            registry.register(Tool(tool_spec(each), run, policy))
            registry.set_enabled(each["name"], enabled=each.get("enabled", True))
        return registry

    def _behaviour(self, name: str, behaviour: dict[str, Any]) -> Callable[[Any], Any]:
        act = self._act(behaviour)

        def run(args: Any) -> Any:
            self._observed.executed.append({"tool": name, "args": args})
            result = act(args)
            self._observed.results.append(result)
            return result

        return run

    def _act(self, behaviour: dict[str, Any]) -> Callable[[Any], Any]:
        match behaviour["kind"]:
            case "return":
                return lambda _: behaviour["value"]
            case "echo_args":
                return lambda args: {"args": args}
            case "long":
                return lambda _: {"text": "x" * behaviour["length"]}
            case "sequence":
                values = list(behaviour["values"])
                return lambda _: values.pop(0) if len(values) > 1 else values[0]
            case "raise":
                return lambda _: _raise(behaviour["message"])
            case "cancel":
                return lambda _: self._request_cancel(behaviour["value"])
        raise AssertionError(f"unknown behaviour {behaviour!r}")

    def _request_cancel(self, value: Any) -> Any:
        self._cancel.request()
        return value


def _raise(message: str) -> Any:
    raise RuntimeError(message)


def _reply(given: dict[str, Any]) -> Reply:
    match given:
        case {"json": value}:
            return JsonReply(value)
        case {"body": text}:
            return BodyReply(text)
        case {"sse": chunks}:
            return SSEReply(chunks)
        case {"fail": _}:
            return Failure("cut")
    raise AssertionError(f"unknown response {given!r}")


def _config(given: dict[str, Any], server: ScriptedModelServer) -> AgentConfig:
    """The case's settings; its address becomes the scripted server's, the path stays."""
    path = "/v1" if given.get("baseUrl", "/api/v1").endswith(":9/v1") else "/api/v1"
    defaults = {"modelId": "unlisted-model", "silentMode": True, "streaming": False}
    return AgentConfig.from_dict({**defaults, **given, "baseUrl": server.root_url + path})


def _protocol(config: AgentConfig) -> Protocol:
    prompt = PromptJson(config.response_mode)
    native = use_native(config.native_tool_calls, config.model)
    return NativeToolCalls(prompt) if native else prompt


def _approver(confirm: str | None) -> Approver | None:
    return None if confirm is None else CallbackApprover(lambda _tool, _args: Approval(confirm))


def _messages(turn: dict[str, Any]) -> list[Message]:
    if "messages" in turn:
        return [_message(each) for each in turn["messages"]]
    images = [bytes.fromhex(each) for each in turn.get("images", [])]
    if not images:
        return [Message("user", turn["query"])]
    parts: list[Part] = [TextPart(turn["query"])]
    parts += [ImagePart(f"data:image/png;base64,{base64.b64encode(i).decode()}") for i in images]
    return [Message("user", parts=tuple(parts))]


def _message(given: dict[str, Any]) -> Message:
    content = given.get("content") or ""
    parts = content if isinstance(content, list) else given.get("parts") or []
    return Message(
        given.get("role", "user"),
        content if isinstance(content, str) else "",
        parts=tuple(_part(each) for each in parts),
    )


def _part(given: dict[str, Any]) -> Part:
    if "text" in given:
        return TextPart(given["text"])
    image = given.get("image_url") or given["url"]
    return ImagePart(image["url"] if isinstance(image, dict) else image)
