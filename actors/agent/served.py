"""`AgentOffer`: an agent as one tool of an MCP server of ours."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from typing import Any

from actors.agent.ref import AgentRef
from actors.agent.result import TurnResult
from actors.errors import InvalidArgument
from actors.mcp.served_offer import Tell
from actors.output.events import StepStarted, ToolChosen, TurnEvent
from actors.tools.decision import error_result

_REQUEST = {
    "type": "object",
    "properties": {
        "request": {
            "type": "string",
            "description": "what to ask, in full sentences, with all that it needs to know",
        }
    },
    "required": ["request"],
    "additionalProperties": False,
}


class AgentOffer:
    """Each call is answered by an agent of its own, which `spawn` makes and which ends with the call.

    So calls know nothing of each other, and many run at once. The client is told of each step and each
    tool. An end without an answer is an error result that says why.
    """

    def __init__(self, spawn: Callable[[], AgentRef], name: str, description: str) -> None:
        self._spawn = spawn
        self._tool = {"name": name, "description": description, "inputSchema": _REQUEST}

    def tools(self) -> list[dict[str, Any]]:
        """See `Offer`."""
        return [self._tool]

    async def call(self, tool: str, arguments: dict[str, Any], tell: Tell) -> Any:
        """See `Offer`."""
        request = arguments.get("request")
        if not isinstance(request, str) or arguments.keys() != {"request"}:
            return error_result(f"tool {tool!r} takes one argument, 'request', a text")
        agent = self._spawn()
        try:
            return await _answered(agent, request, tell)
        except InvalidArgument as error:
            return error_result(str(error))
        finally:
            agent.astop(mode="now")


async def _answered(agent: AgentRef, request: str, tell: Tell) -> Any:
    async with aclosing(agent.astream(request)) as happening:
        async for event in happening:
            if isinstance(event, TurnResult):
                return event.result if event.outcome == "answered" else error_result(event.result)
            if news := _news(event):
                tell(news)
    raise AssertionError("a turn ended without a result")


def _news(event: TurnEvent) -> str:
    match event:
        case StepStarted(number, limit):
            return f"step {number} of at most {limit}"
        case ToolChosen(name):
            return f"calls {name}"
    return ""
