"""Tools that `greenroom mcp serve` offers in the tests."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path
from typing import Any

from actors import ToolPolicy, tool


@tool(idempotent=True)
def echo(text: str) -> str:
    """Give the text back."""
    return text


@tool
def noisy(text: str) -> str:
    """Print the text, in three ways."""
    print(text, flush=True)
    os.write(1, text.encode())
    subprocess.run(["echo", text], check=True)
    return "printed"


@tool
def reads() -> str:
    """What a program reads on standard input."""
    return subprocess.run(["cat"], check=True, capture_output=True, text=True).stdout


@tool(parallel_safe=True)
async def wait(mark: str) -> str:
    """Wait to be cancelled; the file `mark` tells when it runs, and when it was."""
    path = Path(mark)
    path.write_text("runs", encoding="utf-8")
    try:
        await asyncio.Event().wait()
    finally:
        path.write_text("cancelled", encoding="utf-8")
    return ""


@tool
def fail(text: str) -> str:
    """Fail."""
    raise ValueError(text)


@tool
def table(rows: int) -> dict[str, Any]:
    """Give an object."""
    return {"rows": rows}


@tool(policy=ToolPolicy.CONFIRM)
def risky() -> str:
    """Needs approval."""
    return "done"


@tool(policy=ToolPolicy.DENY)
def never() -> str:
    """Is denied."""
    return "done"


ALL = [echo, noisy, reads, wait, fail, table, risky, never]
