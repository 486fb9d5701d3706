"""Where an agent's turn is shown: one method for each thing that can happen.

For whoever prints, logs, draws or counts a turn: subclass `OutputHandler`, hand an instance to the agent,
and `actors.output.dispatch.publish_to` calls it. The methods and their order are those of gaia section 6.

The turn calls a handler from the thread of its event loop, one call after the other, and waits for each: a
handler returns soon and hands slow work to somebody else. An exception of a handler ends the turn that
called it. One handler may serve several agents; their calls then come mixed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from actors.model.message import Usage


class Decision(Struct, frozen=True):
    """One entry of a menu: what is shown, what choosing it means, and a sentence about it."""

    label: str
    value: str
    description: str = ""


class OutputHandler(ABC):
    """What a turn tells. The abstract methods must be there; those at the end do nothing by default."""

    @abstractmethod
    def print_processing_start(self, query: str, max_steps: int, model: str = "") -> None:
        """A turn begins on `query` with at most `max_steps` steps; `model` is empty if unknown."""

    @abstractmethod
    def print_step_header(self, step: int, limit: int) -> None:
        """Step `step` (from 1) of at most `limit` begins."""

    @abstractmethod
    def print_state_info(self, message: str) -> None:
        """The turn changed its state: it begins to recover from an error."""

    @abstractmethod
    def print_thought(self, thought: str) -> None:
        """What the model thinks; empty if it said nothing."""

    @abstractmethod
    def print_goal(self, goal: str) -> None:
        """What the model wants to reach; empty if it said nothing."""

    @abstractmethod
    def print_plan(self, plan: Any, current_step: int = -1) -> None:
        """The model's plan, a list as a rule. `current_step` counts from 0; -1 is none."""

    @abstractmethod
    def print_tool_usage(self, name: str) -> None:
        """The model chose the tool `name`. Its arguments follow through `pretty_print_json`."""

    @abstractmethod
    def print_tool_complete(self) -> None:
        """The tool ended, well or not. Its result follows through `pretty_print_json`."""

    @abstractmethod
    def pretty_print_json(self, data: Any, title: str = "") -> None:
        """A JSON value. The turn's titles are `Tool Args` and `Tool Result`."""

    @abstractmethod
    def print_error(self, message: str) -> None:
        """The turn cannot go on."""

    @abstractmethod
    def print_warning(self, message: str) -> None:
        """Something went wrong and the turn goes on, or it ends early by a rule."""

    @abstractmethod
    def print_info(self, message: str) -> None:
        """Something worth knowing."""

    @abstractmethod
    def start_progress(self, message: str) -> None:
        """A wait begins (`Thinking`). A second start without a stop replaces the first."""

    @abstractmethod
    def stop_progress(self) -> None:
        """The wait ended. A stop without a start does nothing."""

    @abstractmethod
    def print_final_answer(self, answer: str, usage: Usage | None = None) -> None:
        """The answer, and the tokens of the whole turn where a server reported them."""

    @abstractmethod
    def print_completion(self, steps_taken: int, steps_limit: int) -> None:
        """The turn is over, answered or not."""

    def print_prompt(self, prompt: str) -> None:  # noqa: B027  optional: showing nothing is right
        """The system prompt of a step; only with the setting `show_prompts`."""

    def print_response(self, response: str) -> None:  # noqa: B027  optional
        """The raw reply of a step; only with the setting `show_prompts`."""

    def print_header(self, text: str) -> None:  # noqa: B027  optional
        """A heading of the program around the agent."""

    def print_separator(self, length: int = 50) -> None:  # noqa: B027  optional
        """A line across, `length` characters long."""

    def print_tool_info(self, name: str, parameters: str, description: str) -> None:  # noqa: B027
        """A tool the agent has, as a list of tools shows it."""

    def print_decision_menu(self, decisions: Sequence[Decision]) -> None:  # noqa: B027  optional
        """What the user may choose from; asking is not the handler's work."""

    def print_stream_token(self, token: str) -> None:  # noqa: B027  optional
        """A piece of a streamed reply, as it came."""

    def print_stream_end(self) -> None:  # noqa: B027  optional
        """The streamed reply is whole."""
