"""What a server may ask of its client, and who answers: elicitation, sampling, roots.

A legacy server asks by requests of its own; a modern one by a result that says `input_required`, whose
questions are answered with the request made anew. Both come to the same hooks. Without a hook the question
is refused and its capability is not announced.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct

from actors.mcp.dispatcher import Refusal
from actors.mcp.jsonrpc import METHOD_NOT_FOUND

Hook = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]
"""Called on the loop with the parameters of the question; gives the result, raises `Refusal` to refuse."""


class McpHooks(Struct, frozen=True):
    """Who answers a server's questions.

    * `elicit`: `elicitation/create`; gives `{"action": "accept", "content": {...}}`, or the action
      `decline` or `cancel`.
    * `sample`: `sampling/createMessage`.
    """

    elicit: Hook | None = None
    sample: Hook | None = None


NO_HOOKS = McpHooks()


class Questions:
    """Answers questions by hooks and by the configured `roots`, and knows what to announce."""

    def __init__(self, hooks: McpHooks, roots: tuple[str, ...]) -> None:
        self._answers: dict[str, Hook] = {}
        self.capabilities: dict[str, Any] = {}
        if hooks.elicit is not None:
            self._answers["elicitation/create"] = hooks.elicit
            self.capabilities["elicitation"] = {"form": {"applyDefaults": True}}
        if hooks.sample is not None:
            self._answers["sampling/createMessage"] = hooks.sample
            self.capabilities["sampling"] = {}
        if roots:
            self._roots = [{"uri": uri} for uri in roots]
            self._answers["roots/list"] = self._list_roots
            self.capabilities["roots"] = {}

    @property
    def methods(self) -> tuple[str, ...]:
        """The questions that are answered."""
        return tuple(self._answers)

    async def answer(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The answer to a question. Raises `Refusal`."""
        hook = self._answers.get(method)
        if hook is None:
            raise Refusal(METHOD_NOT_FOUND, f"{method!r} is not offered here")
        return await hook(params)

    async def _list_roots(self, _: dict[str, Any]) -> dict[str, Any]:
        return {"roots": self._roots}
