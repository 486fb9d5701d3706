"""A tool: what a model is told about it, the code that runs, and what it may do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from actors.model.toolspec import ToolSpec
from actors.tools.policy import ToolPolicy

Validator = Callable[[str, dict[str, Any]], dict[str, Any]]
"""Called with (tool name, arguments); returns the arguments to use, or raises ValueError saying why not."""


class ToolOrigin(Struct, frozen=True):
    """The server a tool belongs to, and what it is called there."""

    server: str
    tool: str


class Tool(Struct, frozen=True):
    """One tool; plain data, made by `@tool` or by hand.

    * `spec`: name, description and parameters.
    * `run`: called with the arguments; a plain function runs on a worker thread, `async def` on the loop,
      and so does what a plain function gives to await. It returns anything JSON can hold, or a value
      msgspec can turn into that.
    * `policy`: None takes the registry's default when it is registered.
    * `validator`: replaces the check against the parameters (gaia 4).
    * `timeout_s` (120): seconds one call has; None: no limit.
    * `parallel_safe` (False): calls may overlap with others in time.
    * `idempotent` (False): a call may be repeated after a crash without harm.
    * `atomic`: informational, as the seed has it. `origin`: the server it belongs to, if any.
    """

    spec: ToolSpec
    run: Callable[[Any], Any]
    policy: ToolPolicy | None = None
    validator: Validator | None = None
    timeout_s: float | None = 120.0
    parallel_safe: bool = False
    idempotent: bool = False
    atomic: bool = False
    origin: ToolOrigin | None = None

    @property
    def name(self) -> str:
        """The name it is registered and called by."""
        return self.spec.name
