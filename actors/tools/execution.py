"""Running one allowed call: on a thread or on the loop, within its time, with a JSON result whatever happens."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any, Protocol

import msgspec

from actors.tools.decision import Ready, error_result
from actors.tools.tool import Tool

_SCALAR = (str, int, float, bool, type(None))
_PLAIN = (*_SCALAR, dict, list)


class Threads(Protocol):
    """Where plain functions run (`runtime.WorkerThreads`)."""

    async def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Run a function on a thread and give its result; a cancelled wait gives the thread up."""


async def run_tool(call: Ready, threads: Threads) -> Any:
    """The JSON result of a call; failures and timeouts are error results (gaia 4).

    Cancelling it cancels a coroutine tool and gives a plain function's thread up. What a tool raises is
    its failure, be it `SystemExit` or a panic of native code: neither may end every actor. Only
    `KeyboardInterrupt` passes, and `GeneratorExit`, by which a coroutine that is thrown away ends.
    """
    tool = call.tool
    deadline = asyncio.timeout(tool.timeout_s)
    try:
        async with deadline:
            result = await _call(tool, call.args, threads)
    except asyncio.CancelledError as error:
        if _is_being_cancelled():
            raise
        return _failure(error)  # the tool waited for something that was cancelled
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # noqa: BLE001 - the rim: a tool may raise anything
        if isinstance(error, TimeoutError) and deadline.expired():
            return did_not_end(tool)
        return _failure(error)
    return _as_json(tool.name, result)


def did_not_end(tool: Tool) -> dict[str, str]:
    """The error result of a call that took longer than its tool may."""
    return error_result(f"tool {tool.name!r} did not end within {tool.timeout_s:g} s")


async def _call(tool: Tool, args: Any, threads: Threads) -> Any:
    if is_coroutine_function(tool.run):
        return await tool.run(args)
    result = await threads.run(tool.run, args)
    return await result if is_awaitable(result) else result


def is_coroutine_function(function: Callable[..., Any]) -> bool:
    """As `inspect.iscoroutinefunction`, without its six calls for the functions that most tools are."""
    if type(function) is FunctionType:
        return bool(function.__code__.co_flags & inspect.CO_COROUTINE)
    return inspect.iscoroutinefunction(function)


def is_awaitable(result: Any) -> bool:
    """As `inspect.isawaitable`, sooner for what most tools return."""
    return type(result) not in _PLAIN and inspect.isawaitable(result)


def _is_being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def _failure(error: BaseException) -> dict[str, str]:
    kind, text = type(error).__name__, _words(error)
    if text and not isinstance(error, Exception | asyncio.CancelledError):
        text = f"{kind}: {text}"  # `SystemExit: 3`
    return error_result(f"Tool execution failed: {text or kind}")


def _words(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - the rim: a `__str__` of the tool's own may raise anything
        return ""


def _as_json(name: str, result: Any) -> Any:
    """The result as plain values; an error result if JSON cannot hold it."""
    if type(result) in _SCALAR:
        return result
    try:
        plain = msgspec.to_builtins(result, str_keys=True)
        _encode(plain)
    except Exception as error:  # noqa: BLE001 - the rim: a value of the tool's own may raise anything
        kind = type(result).__name__
        return error_result(
            f"tool {name!r} returned a {kind} that JSON cannot hold: {_words(error)}"
        )
    return plain


def _encode(plain: Any) -> None:
    """Try it. Halves of surrogate pairs (odd file names) are let through: who sends the text mends them."""
    try:
        msgspec.json.encode(plain)
    except UnicodeEncodeError:
        pass
