"""Running one allowed call: on a thread or on the loop, within its time, with a JSON result whatever happens."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from actors.tools.decision import Ready, error_result


class Threads(Protocol):
    """Where plain functions run (`runtime.WorkerThreads`)."""

    async def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Run a function on a thread and give its result; a cancelled wait gives the thread up."""


async def run_tool(call: Ready, threads: Threads) -> Any:
    """The JSON result of a call; failures and timeouts are error results (gaia 4).

    Cancelling it cancels a coroutine tool and gives a plain function's thread up.
    """
    tool = call.tool
    try:
        async with asyncio.timeout(tool.timeout_s):
            if inspect.iscoroutinefunction(tool.run):
                result = await tool.run(call.args)
            else:
                result = await threads.run(tool.run, call.args)
    except TimeoutError as error:
        if not str(error):
            return error_result(f"tool {tool.name!r} did not end within {tool.timeout_s:g} s")
        return error_result(f"Tool execution failed: {error}")
    except Exception as error:  # noqa: BLE001 - the rim: a tool may raise anything, the model is told
        return error_result(f"Tool execution failed: {_text_of(error)}")
    return _as_json(tool.name, result)


def _text_of(error: Exception) -> str:
    return str(error) or type(error).__name__


_PLAIN = (str, int, float, bool, type(None))


def _as_json(name: str, result: Any) -> Any:
    """The result as plain values; an error result if JSON cannot hold it."""
    if type(result) in _PLAIN:
        return result
    try:
        plain = msgspec.to_builtins(result, str_keys=True)
        msgspec.json.encode(plain)
    except (TypeError, ValueError, RecursionError) as error:
        return error_result(
            f"tool {name!r} returned a {type(result).__name__} that JSON cannot hold: {error}"
        )
    return plain
