"""Tells a turn as JSON, one object a line, for a program that watches.

The forms are those of gaia part 2, "JSON events"; `type` says which one it is. A line is written in one
piece, so several agents may share a handler's stream; what no UTF-8 can carry is replaced. An empty thought
or goal, the start of a turn, the end of a wait and the end of a stream say nothing.

    {"type":"step","step":1,"total":20,"status":"started"}
    {"type":"thinking","content":"..."}
    {"type":"status","status":"working|info|warning","message":"..."}
    {"type":"plan","steps":[...],"current_step":-1}
    {"type":"tool_start","tool":"add"}
    {"type":"tool_args","tool":"add","args":{...}}
    {"type":"tool_end","success":true}
    {"type":"tool_result","title":"add","success":true,"summary":"...","command_output":{...},"result_data":...}
    {"type":"chunk","content":"..."}
    {"type":"agent_error","content":"..."}
    {"type":"answer","content":"...","steps":2,"tools_used":1,"usage":{...}}
    {"type":"status","status":"complete","steps":2,"total":20}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TextIO

from msgspec import to_builtins

from actors.model.message import Usage
from actors.output.console import Console
from actors.output.handler import OutputHandler
from actors.output.json_text import compact_json

_LONGEST_SUMMARY = 200
_COMMAND_STREAMS = ("stdout", "stderr", "output")


def summary_of(result: Any) -> Any:
    """A tool's result in short: its `error`, else its `stdout` cut at 200 characters, else its `status`.

    `completed` where it has none of them, or is no object.
    """
    if not isinstance(result, Mapping):
        return "completed"
    if "error" in result:
        return result["error"]
    output = result.get("stdout")
    if isinstance(output, str):
        return output if len(output) <= _LONGEST_SUMMARY else f"{output[:_LONGEST_SUMMARY]}..."
    return result.get("status", "completed")


class JsonLinesHandler(OutputHandler):
    """Writes the events on `stream`, `sys.stdout` by default.

    It counts steps and tools for the answer's line; the start of a turn begins the count anew, so each agent
    wants a handler of its own.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._console = Console(stream)
        self._steps = 0
        self._tools_used = 0
        self._tool = ""

    def print_processing_start(self, query: str, max_steps: int, model: str = "") -> None:  # noqa: ARG002
        """No line; the counters start anew."""
        self._steps = 0
        self._tools_used = 0
        self._tool = ""

    def print_step_header(self, step: int, limit: int) -> None:
        """A `step` line."""
        self._steps = step
        self._emit("step", step=step, total=limit, status="started")

    def print_state_info(self, message: str) -> None:
        """A `status` line, `warning`: it tells of an error to recover from."""
        self._status("warning", message)

    def print_thought(self, thought: str) -> None:
        """A `thinking` line unless empty."""
        if thought:
            self._emit("thinking", content=thought)

    def print_goal(self, goal: str) -> None:
        """A `status` line, `working`, unless empty."""
        if goal:
            self._status("working", goal)

    def print_plan(self, plan: Any, current_step: int = -1) -> None:
        """A `plan` line."""
        self._emit("plan", steps=plan, current_step=current_step)

    def print_tool_usage(self, name: str) -> None:
        """A `tool_start` line."""
        self._tool = name
        self._tools_used += 1
        self._emit("tool_start", tool=name)

    def print_tool_complete(self) -> None:
        """A `tool_end` line. Its `success` is always true: how it went stands in `tool_result`."""
        self._emit("tool_end", success=True)

    def pretty_print_json(self, data: Any, title: str = "") -> None:
        """`tool_args` or `tool_result` by the turn's titles; anything else is a `status` line, `info`."""
        if title == "Tool Args":
            self._emit("tool_args", tool=self._tool, args=data)
        elif title == "Tool Result":
            self._tool_result(data)
        else:
            self._status("info", compact_json(data))

    def print_error(self, message: str) -> None:
        """An `agent_error` line."""
        self._emit("agent_error", content=message)

    def print_warning(self, message: str) -> None:
        """A `status` line, `warning`."""
        self._status("warning", message)

    def print_info(self, message: str) -> None:
        """A `status` line, `info`."""
        self._status("info", message)

    def start_progress(self, message: str) -> None:
        """A `status` line, `working`."""
        self._status("working", message)

    def stop_progress(self) -> None:
        """No line."""

    def print_final_answer(self, answer: str, usage: Usage | None = None) -> None:
        """An `answer` line; `usage` only if its total is above zero."""
        fields = {"content": answer, "steps": self._steps, "tools_used": self._tools_used}
        if usage is not None and usage.total_tokens > 0:
            fields["usage"] = to_builtins(usage)
        self._emit("answer", **fields)

    def print_completion(self, steps_taken: int, steps_limit: int) -> None:
        """A `status` line, `complete`."""
        self._emit("status", status="complete", steps=steps_taken, total=steps_limit)

    def print_stream_token(self, token: str) -> None:
        """A `chunk` line."""
        self._emit("chunk", content=token)

    def _tool_result(self, result: Any) -> None:
        fields: dict[str, Any] = {
            "title": self._tool,
            "success": True,
            "summary": summary_of(result),
        }
        if isinstance(result, Mapping):
            fields["success"] = result.get("status") != "error"
            streams = {name: result[name] for name in _COMMAND_STREAMS if name in result}
            if streams:
                fields["command_output"] = streams
        self._emit("tool_result", **fields, result_data=result)

    def _status(self, status: str, message: str) -> None:
        self._emit("status", status=status, message=message)

    def _emit(self, kind: str, **fields: Any) -> None:
        line = compact_json({"type": kind, **fields})
        self._console.write(self._console.clean(line) + "\n")
