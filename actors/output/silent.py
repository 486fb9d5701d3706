"""Says nothing but the final answer; for a program's output that another program reads, and for tests."""

from __future__ import annotations

from typing import Any, TextIO

from actors.model.message import Usage
from actors.output.console import Console
from actors.output.handler import OutputHandler


class SilentHandler(OutputHandler):
    """Prints the final answer and a line end on `stream` (`sys.stdout`), or not even that.

    A streamed answer comes without a final-answer event unless `structured_events` is set (gaia 1.7), so a
    silent agent that streams wants that setting too.
    """

    def __init__(self, stream: TextIO | None = None, *, silence_final_answer: bool = False) -> None:
        self._console = None if silence_final_answer else Console(stream)

    def print_final_answer(self, answer: str, usage: Usage | None = None) -> None:  # noqa: ARG002
        """The one thing that is said, unless told to silence it too."""
        if self._console is not None:
            self._console.write(self._console.clean(answer) + "\n")

    def print_processing_start(self, query: str, max_steps: int, model: str = "") -> None:
        """Nothing."""

    def print_step_header(self, step: int, limit: int) -> None:
        """Nothing."""

    def print_state_info(self, message: str) -> None:
        """Nothing."""

    def print_thought(self, thought: str) -> None:
        """Nothing."""

    def print_goal(self, goal: str) -> None:
        """Nothing."""

    def print_plan(self, plan: Any, current_step: int = -1) -> None:
        """Nothing."""

    def print_tool_usage(self, name: str) -> None:
        """Nothing."""

    def print_tool_complete(self) -> None:
        """Nothing."""

    def pretty_print_json(self, data: Any, title: str = "") -> None:
        """Nothing."""

    def print_error(self, message: str) -> None:
        """Nothing."""

    def print_warning(self, message: str) -> None:
        """Nothing."""

    def print_info(self, message: str) -> None:
        """Nothing."""

    def start_progress(self, message: str) -> None:
        """Nothing."""

    def stop_progress(self) -> None:
        """Nothing."""

    def print_completion(self, steps_taken: int, steps_limit: int) -> None:
        """Nothing."""
