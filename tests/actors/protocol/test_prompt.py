"""The system prompt, put together."""

from __future__ import annotations

import pytest

from actors.model.toolspec import ToolParameter, ToolSpec
from actors.protocol.prompt import TOOLS_HEADING, compose_prompt, tool_line

READ = ToolSpec(
    "read",
    "Read a file.\n  Whole or in part.",
    (ToolParameter("path"), ToolParameter("from_line", "integer", required=False)),
)
LINE = "- read(path: string, from_line?: integer): Read a file. Whole or in part."


def test_a_tool_is_one_line() -> None:
    assert tool_line(READ) == LINE


@pytest.mark.parametrize(
    ("own", "tools", "template", "prompt"),
    [
        ("", [], "", ""),
        ("Own.", [], "", "Own."),
        ("", [], "Format.", "Format."),
        ("Own.", [], "Format.", "Own.\n\nFormat."),
        ("", [READ], "", f"{TOOLS_HEADING}\n{LINE}"),
        ("Own.", [READ], "Format.", f"Own.\n\n{TOOLS_HEADING}\n{LINE}\n\nFormat."),
    ],
)
def test_parts_that_are_there_stand_a_blank_line_apart(
    own: str, tools: list[ToolSpec], template: str, prompt: str
) -> None:
    assert compose_prompt(own, tools, template) == prompt


def test_tools_stand_in_the_order_given() -> None:
    prompt = compose_prompt("", [ToolSpec("b"), ToolSpec("a")], "")
    assert prompt.index("- b()") < prompt.index("- a()")
