"""What an MCP server of ours offers: tools, listed and called."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from actors.protocol.native import parameters_schema
from actors.tools.approval import Approver
from actors.tools.executor import tool_executor
from actors.tools.policy import ToolPolicy
from actors.tools.registry import ToolRegistry
from actors.tools.runner import RegistryRunner
from actors.tools.tool import Tool
from runtime import ActorSystem

Tell = Callable[[str], None]
"""Tells the client, if it wants to know, what a call does now. Called on the loop; returns at once."""


class Offer(Protocol):
    """What is served. Used on the system's loop; many calls run at once."""

    def tools(self) -> list[dict[str, Any]]:
        """The tools as `tools/list` gives them; always the same, `name` and `inputSchema` at least."""

    async def call(self, tool: str, arguments: dict[str, Any], tell: Tell) -> Any:
        """The JSON result of a call of a listed tool; failures are error results (gaia 4).

        Cancelling it ends the work.
        """


class ToolOffer:
    """Tools of ours, run by the system's executor.

    The client asks its own user before it calls a tool, or does not; we cannot know. So a tool that needs
    approval is offered only with an `approver`, and one with the policy DENY never. A tool without a policy
    runs.
    """

    def __init__(
        self, system: ActorSystem, tools: Iterable[Tool], approver: Approver | None = None
    ) -> None:
        """Raises ToolExists if two tools have one name."""
        self._registry = ToolRegistry()
        self.withheld: list[str] = []
        limit = ToolPolicy.ALLOW if approver is None else ToolPolicy.CONFIRM
        for tool in tools:
            if tool.policy is not None and tool.policy > limit:
                self.withheld.append(tool.name)
            else:
                self._registry.register(tool)
        self._runner = RegistryRunner(
            self._registry, tool_executor(system), approver=approver, store=None
        )
        self._listed = [described(tool) for tool in self._registry.all()]

    def tools(self) -> list[dict[str, Any]]:
        """See `Offer`."""
        return self._listed

    async def call(self, tool: str, arguments: dict[str, Any], tell: Tell) -> Any:  # noqa: ARG002
        """See `Offer`."""
        return await self._runner.run(tool, arguments)


def described(tool: Tool) -> dict[str, Any]:
    """A tool as `tools/list` gives it.

    Of the annotations only `idempotentHint` is known; without `readOnlyHint` a careful client asks first.
    """
    shown: dict[str, Any] = {
        "name": tool.name,
        "description": tool.spec.description,
        "inputSchema": {"type": "object", **parameters_schema(tool.spec)},
    }
    if tool.idempotent:
        shown["annotations"] = {"idempotentHint": True}
    return shown
