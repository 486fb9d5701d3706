"""The system prompt, put together in one place (gaia 1.6): own prompt, tools, reply format."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from actors.model.toolspec import ToolSpec

TOOLS_HEADING = "==== AVAILABLE TOOLS ===="


def compose_prompt(own_prompt: str, tools: Sequence[ToolSpec], template: str) -> str:
    """The parts that are there, a blank line between them."""
    listed = f"{TOOLS_HEADING}\n{tool_lines(tools)}".rstrip("\n") if tools else ""
    return "\n\n".join(part for part in (own_prompt, listed, template) if part)


def tool_lines(tools: Iterable[ToolSpec]) -> str:
    """One line a tool, each ended: `- name(param: type, opt?: type): description`."""
    return "".join(f"{tool_line(spec)}\n" for spec in tools)


def tool_line(spec: ToolSpec) -> str:
    """A tool in one line; line breaks in its description become blanks."""
    parameters = ", ".join(
        f"{each.name}{'' if each.required else '?'}: {each.type}" for each in spec.parameters
    )
    return f"- {spec.name}({parameters}): {' '.join(spec.description.split())}"
