"""Shows a turn to a person: step by step, coloured on a terminal, plain everywhere else.

Values are pretty-printed JSON, indented by two and clipped: over 2000 characters the first 1000 and the
last 500 remain (gaia 6). An empty thought or goal is not shown. NO_COLOR takes the colours away.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from actors.model.message import Usage
from actors.output.console import Console
from actors.output.handler import Decision, OutputHandler
from actors.output.json_text import compact_json, indented_json
from actors.output.progress import SILENT_FOR_S, Progress

_LONGEST = 2000
_HEAD = 1000
_TAIL = 500


def clip_json(text: str) -> str:
    """`text` if it has at most 2000 characters, else its first 1000 and last 500 around a mark."""
    if len(text) <= _LONGEST:
        return text
    left_out = len(text) - _HEAD - _TAIL
    return f"{text[:_HEAD]}\n... {left_out} characters left out ...\n{text[-_TAIL:]}"


class TerminalHandler(OutputHandler):
    """Prints on one stream, `sys.stdout` by default.

    `shows_query=False` is for a console on which the user has just typed the question.
    """

    def __init__(
        self,
        stream: TextIO | None = None,
        *,
        shows_query: bool = True,
        silent_for_s: float = SILENT_FOR_S,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self.console = Console(stream, environ=environ)
        self._shows_query = shows_query
        self._progress = Progress(self.console, silent_for_s=silent_for_s)

    def print_processing_start(self, query: str, max_steps: int, model: str = "") -> None:
        """The question, and with what it is answered."""
        if self._shows_query:
            self._labelled("Question", query, "bold")
        by = f"model {model}, " if model else ""
        self._line(f"{by}at most {max_steps} steps", "dim")

    def print_step_header(self, step: int, limit: int) -> None:
        """`Step 1 of 20`; from here on there is a wait until something else is shown."""
        self._line(f"Step {step} of {limit}", "bold")
        # A streamed step says nothing until its first token; any other replaces this at once.
        self._progress.start("Waiting for the model")

    def print_state_info(self, message: str) -> None:
        """A dim line."""
        self._line(message, "dim")

    def print_thought(self, thought: str) -> None:
        """Nothing if empty."""
        if thought:
            self._labelled("Thought", thought, "cyan")

    def print_goal(self, goal: str) -> None:
        """Nothing if empty."""
        if goal:
            self._labelled("Goal", goal, "cyan")

    def print_plan(self, plan: Any, current_step: int = -1) -> None:
        """One line per step: its tool if it names one, else its JSON. A plan that is no list is JSON."""
        if not isinstance(plan, list | tuple):
            self.pretty_print_json(plan, "Plan")
            return
        self._line("Plan:", "cyan")
        for number, step in enumerate(plan):
            tool = step.get("tool") if isinstance(step, Mapping) else step
            text = tool if isinstance(tool, str) else compact_json(step)
            mark = ">" if number == current_step else " "
            self._print(self.console.clean(f"{mark} {number + 1}. {clip_json(text)}") + "\n")

    def print_tool_usage(self, name: str) -> None:
        """`Tool: name`."""
        self._labelled("Tool", name, "yellow")

    def print_tool_complete(self) -> None:
        """A dim line; whether it went well stands in the result that follows."""
        self._line("tool finished", "dim")

    def pretty_print_json(self, data: Any, title: str = "") -> None:
        """The title, if there is one, and the value beneath it."""
        if title:
            self._line(f"{title}:", "dim")
        self._print(self.console.clean(clip_json(indented_json(data))) + "\n")

    def print_error(self, message: str) -> None:
        """`Error: ...`."""
        self._labelled("Error", message, "red", "bold")

    def print_warning(self, message: str) -> None:
        """`Warning: ...`."""
        self._labelled("Warning", message, "yellow", "bold")

    def print_info(self, message: str) -> None:
        """A plain line."""
        self._print(self.console.clean(message) + "\n")

    def start_progress(self, message: str) -> None:
        """Shown when it lasts longer than a second, and on a terminal only."""
        self._progress.start(message)

    def stop_progress(self) -> None:
        """The line is gone when this returns."""
        self._progress.stop()

    def print_final_answer(self, answer: str, usage: Usage | None = None) -> None:
        """The answer between blank lines, and its tokens if a server told them."""
        heading = self.console.paint("Answer:", "green", "bold")
        self._print(f"\n{heading}\n{self.console.clean(answer)}\n\n")
        if usage is not None and usage.total_tokens > 0:
            self._line(
                f"{usage.prompt_tokens} tokens read, {usage.completion_tokens} written", "dim"
            )

    def print_completion(self, steps_taken: int, steps_limit: int) -> None:
        """A dim line."""
        self._line(f"done after {steps_taken} of {steps_limit} steps", "dim")

    def print_prompt(self, prompt: str) -> None:
        """The whole text."""
        self._labelled("Prompt", f"\n{prompt}", "dim")

    def print_response(self, response: str) -> None:
        """The whole text."""
        self._labelled("Reply", f"\n{response}", "dim")

    def print_header(self, text: str) -> None:
        """A bold line after a blank one."""
        self._print("\n" + self.console.paint(text, "bold") + "\n")

    def print_separator(self, length: int = 50) -> None:
        """`length` hyphens."""
        self._print("-" * length + "\n")

    def print_tool_info(self, name: str, parameters: str, description: str) -> None:
        """`name(parameters)` and the description beneath it."""
        self._print(f"{self.console.paint(name, 'bold')}({self.console.clean(parameters)})\n")
        self._line(f"  {description}", "dim")

    def print_decision_menu(self, decisions: Sequence[Decision]) -> None:
        """A numbered line for each."""
        for number, decision in enumerate(decisions, 1):
            about = f": {decision.description}" if decision.description else ""
            self._print(f"  {number}. {self.console.clean(decision.label + about)}\n")

    def print_stream_token(self, token: str) -> None:
        """As it came, without a line end of ours."""
        self._print(self.console.clean(token))

    def print_stream_end(self) -> None:
        """The line end the tokens lack."""
        self._print("\n")

    def _print(self, text: str) -> None:
        self._progress.stop()
        self.console.write(text)

    def _line(self, text: str, *styles: str) -> None:
        self._print(self.console.paint(text, *styles) + "\n")

    def _labelled(self, label: str, text: str, *styles: str) -> None:
        self._print(f"{self.console.paint(label + ':', *styles)} {self.console.clean(text)}\n")
