"""The tools `greenroom run` and `greenroom chat` give the agent when no `--tools` are named.

Few and honest: they only compute, touch nothing, and are described in words a small model understands.
"""

from __future__ import annotations

from datetime import datetime

from actors.tools.decorator import tool
from actors.tools.tool import Tool


@tool(parallel_safe=True)
def add(a: float, b: float) -> float:
    """Add two numbers.

    Args:
        a: the first number
        b: the second number
    """
    return a + b


@tool(parallel_safe=True)
def multiply(a: float, b: float) -> float:
    """Multiply two numbers.

    Args:
        a: the first number
        b: the second number
    """
    return a * b


@tool(parallel_safe=True)
def word_count(text: str) -> int:
    """Count the words of a text.

    Args:
        text: the text whose words are counted
    """
    return len(text.split())


@tool(parallel_safe=True)
def current_time() -> str:
    """Tell the current date and time of this machine."""
    return datetime.now().astimezone().strftime("%A, %d %B %Y, %H:%M:%S %Z")


DEMO_TOOLS: tuple[Tool, ...] = (add, multiply, word_count, current_time)
"""All of them."""
