"""A whole house for tests of an agent: a scripted server, a real actor system, agents that use both."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from actors import Agent, AgentConfig, AgentRef, Tool, TurnResult
from actors.model.message import Message
from actors.testing import RecordedRequest, ScriptedModelServer, answer
from actors.testing.model_server import Script
from actors.testing.replies import Reply
from runtime import ActorSystem

LIMIT_S = 30.0
"""Bound of every wait; nothing is expected to take so long."""


class Stage:
    """A server that answers by a script, and a system whose agents ask it."""

    def __init__(self, script: Script = (), *, routes: Mapping[str, Reply] | None = None) -> None:
        self.server = ScriptedModelServer(script, routes=routes)
        self.system: ActorSystem

    def __enter__(self) -> Self:
        """Start both."""
        self.server.__enter__()
        self.system = ActorSystem()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop the system, then the server."""
        try:
            self.system.__exit__(kind, value, traceback)
        finally:
            self.server.__exit__(kind, value, traceback)

    def config(self, **settings: Any) -> AgentConfig:
        """Settings of an agent that asks this server."""
        given = {"provider": "openai", "base_url": self.server.base_url, "model": "m"}
        return AgentConfig(**{**given, **settings})

    def agent(
        self, *tools: Tool, setup: Mapping[str, Any] | None = None, **settings: Any
    ) -> AgentRef:
        """Start an agent with these tools; `setup` goes to `Agent.spawn`."""
        return Agent.spawn(self.system, self.config(**settings), tools=tools, **(setup or {}))


def ask(agent: AgentRef, question: str | Sequence[Message] = "do it", **more: Any) -> TurnResult:
    """Ask and wait, within the limit."""
    return agent.process_query(question, timeout=LIMIT_S, **more)


def last_text(request: RecordedRequest) -> str:
    """The content of the last message of a request."""
    return str(request.json["messages"][-1]["content"])


def echo_script(request: RecordedRequest) -> Reply:
    """Answers every question with the question."""
    return answer(last_text(request))


def after_tool(tool: Reply, final: Reply) -> Callable[[RecordedRequest], Reply]:
    """A script for many askers: a tool call first, the answer once its result is there."""

    def reply(request: RecordedRequest) -> Reply:
        return final if request.json["messages"][-1]["role"] == "tool" else tool

    return reply


def in_threads(*works: Callable[[], Any]) -> list[Any]:
    """Run functions at the same time, each on a thread of its own; what they gave, in order."""
    results: list[Any] = [None] * len(works)
    start = threading.Barrier(len(works))

    def run(number: int) -> None:
        start.wait(LIMIT_S)
        try:
            results[number] = works[number]()
        except Exception as error:
            results[number] = error

    threads = [threading.Thread(target=run, args=(n,), daemon=True) for n in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT_S)
    return results
