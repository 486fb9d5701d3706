"""One agent for the time of one command.

`AnswersQueries` is the little of an agent's ref that the commands need, so that they can be tried against a
stand-in; `SessionPlan` is all that makes the agent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from msgspec import Struct

from actors.agent.result import TurnResult
from actors.config import AgentConfig
from actors.model.message import Message
from actors.output.handler import OutputHandler
from actors.tools.approval import Approver
from actors.tools.tool import Tool


class AnswersQueries(Protocol):
    """An agent, as a command sees it. Every method may be called from any thread."""

    def process_query(self, text: str, max_steps: int = 0) -> TurnResult:
        """Run one turn and wait for its end; a turn that fails by a rule is a result."""

    def cancel(self) -> object:
        """End the running turn soon; without one, nothing."""

    def history(self) -> Sequence[Message]:
        """What was said so far."""

    def clear_history(self) -> object:
        """Forget what was said."""

    def set_model(self, name: str) -> object:
        """Answer with another model from the next turn on."""


class SessionPlan(Struct, frozen=True):
    """What the agent of a command is made of. An `approver` of None refuses what needs approval."""

    config: AgentConfig
    output: OutputHandler
    tools: tuple[Tool, ...] = ()
    system_prompt: str = ""
    approver: Approver | None = None


OpenSession = Callable[[SessionPlan], AbstractContextManager[AnswersQueries]]
"""Makes the agent; leaving the context ends it and all it started."""
