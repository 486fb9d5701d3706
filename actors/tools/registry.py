"""The tools of one agent: registered by name, enabled or not, each with its policy (gaia 4).

Used by one agent on one thread at a time. `version` changes whenever the model would be told something
else, so that prompts and schemas are made anew only then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from actors.errors import ToolExists, ToolSchemaError
from actors.model.toolspec import ToolSpec
from actors.tools.decision import Decision, NeedsApproval, Ready, Refused
from actors.tools.names import resolve_name
from actors.tools.policy import ToolPolicy, stricter
from actors.tools.tool import Tool
from actors.tools.validation import argument_problem


class ToolRegistry:
    """See the module. `default_policy` (ALLOW) is for tools registered without one."""

    def __init__(self, default_policy: ToolPolicy = ToolPolicy.ALLOW) -> None:
        self._default_policy = default_policy
        self._tools: dict[str, Tool] = {}
        self._disabled: set[str] = set()
        self.version = 0

    # -- what is there ------------------------------------------------------------------------------

    def register(self, tool: Tool) -> None:
        """Add a tool; without a policy it takes the default of this moment.

        A tool of a server takes the stricter of its own and the default.

        Raises:
            ToolExists: there is one of that name.
            ToolSchemaError: what a model would be told of it has no JSON form.
        """
        _require_sendable(tool)
        if tool.name in self._tools:
            raise ToolExists(
                f"a tool {tool.name!r} is registered already; remove it first, or rename one"
            )
        policy = self._default_policy if tool.policy is None else tool.policy
        if tool.origin is not None:
            policy = stricter(policy, self._default_policy)
        self._tools[tool.name] = replace(tool, policy=policy)
        self.version += 1

    def remove(self, name: str) -> bool:
        """Take a tool away; False if there is none of that name."""
        if self._tools.pop(name, None) is None:
            return False
        self._disabled.discard(name)
        self.version += 1
        return True

    def clear(self) -> None:
        """Take all tools away."""
        self._tools.clear()
        self._disabled.clear()
        self.version += 1

    def find(self, name: str) -> Tool | None:
        """The tool of exactly that name."""
        return self._tools.get(name)

    def has(self, name: str) -> bool:
        """Whether there is a tool of exactly that name."""
        return name in self._tools

    def resolve(self, name: str) -> Tool | None:
        """The tool that a model means by a name: that one, else the only one it can mean."""
        exact = self._tools.get(name)
        if exact is not None:
            return exact
        meant = resolve_name(name, self._tools)
        return None if meant is None else self._tools[meant]

    def all(self) -> list[Tool]:
        """All tools in name order."""
        return [self._tools[name] for name in sorted(self._tools)]

    def __len__(self) -> int:
        """How many tools there are, disabled ones among them."""
        return len(self._tools)

    def set_enabled(self, name: str, *, enabled: bool) -> bool:
        """Show a tool to the model, or hide and refuse it; False if there is none of that name."""
        if name not in self._tools:
            return False
        if enabled != self.is_enabled(name):
            (self._disabled.discard if enabled else self._disabled.add)(name)
            self.version += 1
        return True

    def is_enabled(self, name: str) -> bool:
        """Whether the tool is there and enabled."""
        return name in self._tools and name not in self._disabled

    def enabled_names(self) -> list[str]:
        """The names of the enabled tools, in order."""
        return [name for name in sorted(self._tools) if name not in self._disabled]

    def specs(self) -> list[ToolSpec]:
        """The enabled tools as a model sees them, in name order."""
        return [self._tools[name].spec for name in self.enabled_names()]

    @property
    def default_policy(self) -> ToolPolicy:
        """The policy of tools registered without one."""
        return self._default_policy

    def set_default_policy(self, policy: ToolPolicy) -> None:
        """Change the default for later registrations."""
        self._default_policy = policy

    # -- what a call may do -------------------------------------------------------------------------

    def decide(self, name: str, args: Any) -> Decision:
        """What becomes of a call, by name, state, policy and arguments. Never raises.

        Order (gaia 4): unknown, disabled, DENY, arguments, CONFIRM.
        """
        tool = self.resolve(name)
        if tool is None:
            return Refused(
                f"tool {name!r} not found; the tools are: {', '.join(self.enabled_names()) or 'none'}"
            )
        if tool.name in self._disabled:
            return Refused(f"tool {tool.name!r} is disabled")
        if tool.policy is ToolPolicy.DENY:
            return Refused(f"tool {tool.name!r} is denied by policy")
        checked = _check_arguments(tool, args)
        if isinstance(checked, Refused):
            return checked
        outcome: Callable[[Tool, Any], Decision] = Ready
        if tool.policy is ToolPolicy.CONFIRM:
            outcome = NeedsApproval
        return outcome(tool, checked)


def _check_arguments(tool: Tool, args: Any) -> Any:
    """The arguments to use, or a refusal."""
    if tool.validator is not None:
        try:
            return tool.validator(tool.name, {} if args is None else args)
        except Exception as error:  # noqa: BLE001 - a caller's validator may raise anything; it is a refusal
            return Refused(f"tool {tool.name!r}: {error}")
    problem = argument_problem(tool.spec, args)
    return args if problem is None else Refused(problem)


def _require_sendable(tool: Tool) -> None:
    try:
        msgspec.json.encode(tool.spec)
    except (TypeError, ValueError, RecursionError) as error:
        raise ToolSchemaError(
            f"tool {tool.name!r}: its description or parameters have no JSON form: {error}"
        ) from error
