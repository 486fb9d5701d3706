"""Any value as JSON text, for the eyes of a person or for one line of a log; it never raises.

What a tool returned or a model wrote may hold anything: lone surrogates, NaN, sets, objects, circles,
depth without end. Showing it must not end the turn that produced it, so what JSON cannot say is said by
its `repr`, NaN and infinities become null, and characters that no encoding can carry become U+FFFD.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

_SURROGATE = re.compile("[\ud800-\udfff]")
_DEEPEST = 100  # msgspec and most readers give up at a few hundred to a thousand
_LONGEST_INTEGER_BITS = 4096  # Python refuses to write out integers of more than 4300 digits


def printable(text: str) -> str:
    """`text` with each lone surrogate replaced by U+FFFD, so that UTF-8 can carry it."""
    return _SURROGATE.sub("\ufffd", text)


def compact_json(data: Any) -> str:
    """`data` as JSON on one line."""
    return _encode(data).decode()


def indented_json(data: Any) -> str:
    """`data` as JSON over several lines, indented by two."""
    return msgspec.json.format(_encode(data), indent=2).decode()


def _encode(data: Any) -> bytes:
    try:
        return msgspec.json.encode(data, enc_hook=_described)
    except (TypeError, ValueError, OverflowError, RecursionError):
        # Seldom: keys that are no keys, lone surrogates, huge integers, circles. Rebuild what can be said.
        return msgspec.json.encode(_sayable(data, _DEEPEST), enc_hook=_described)


def _described(value: Any) -> str:
    """What stands for a value JSON has no form for."""
    try:
        return printable(repr(value))
    except Exception as error:  # noqa: BLE001  a stranger's __repr__ may raise anything
        return f"<{type(value).__name__}: its repr raised {type(error).__name__}>"


def _sayable(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return printable(value)
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int):
        return value if value.bit_length() <= _LONGEST_INTEGER_BITS else _described(value)
    if isinstance(value, Mapping | list | tuple | set | frozenset):
        return _sayable_inside(value, depth - 1) if depth > 0 else "..."
    return _described(value)


def _sayable_inside(value: Any, depth: int) -> Any:
    if isinstance(value, Mapping):
        return {
            printable(key) if isinstance(key, str) else _described(key): _sayable(item, depth)
            for key, item in value.items()
        }
    return [_sayable(item, depth) for item in value]
