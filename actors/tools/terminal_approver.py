"""Asks at the terminal: the question on standard error, the answer a line of standard input (gaia 5)."""

from __future__ import annotations

import json
import select
import sys
import threading
from typing import Any, TextIO

from actors.tools.approval import Approval, on_own_thread

SHOWN_ARGUMENTS = 2000
"""Most characters of the arguments that are shown."""

_LOOK_S = 0.1

_ANSWERS = {
    "1": Approval.ALLOW_ONCE,
    "o": Approval.ALLOW_ONCE,
    "2": Approval.ALWAYS_ALLOW,
    "a": Approval.ALWAYS_ALLOW,
}


class TerminalApprover:
    """Names the tool, shows its arguments, reads one line. Anything but a yes denies, and so does EOF.

    `1` or `o`: once; `2` or `a`: always; letters in any case. Questions asked at the same time are put
    one after another. A cancelled question is given up and reads no line, so the next line typed belongs
    to whoever reads next.
    """

    def __init__(self, stdin: TextIO | None = None, stderr: TextIO | None = None) -> None:
        self._stdin = stdin or sys.stdin
        self._stderr = stderr or sys.stderr
        self._asking = threading.Lock()

    async def approve(self, tool_name: str, args: Any) -> Approval:
        """The decision of whoever sits there."""
        given_up = threading.Event()
        try:
            answer: Approval = await on_own_thread(self._ask, question(tool_name, args), given_up)
            return answer
        finally:
            given_up.set()

    def _ask(self, text: str, given_up: threading.Event) -> Approval:
        with self._asking:
            if given_up.is_set():
                return Approval.DENY
            self._show(text)
            line = self._read_line(given_up)
            if not line.endswith("\n"):
                self._show("\n")  # nobody ended the line of the question
            return read_answer(line)

    def _show(self, text: str) -> None:
        self._stderr.write(text)
        self._stderr.flush()

    def _read_line(self, given_up: threading.Event) -> str:
        while not given_up.is_set():
            if _readable(self._stdin):
                return self._stdin.readline()
        return ""


def _readable(stream: TextIO) -> bool:
    """Whether a line can be read without waiting long; streams without a descriptor always can."""
    try:
        ready, _, _ = select.select([stream], [], [], _LOOK_S)
    except (OSError, ValueError):
        return True
    return bool(ready)


def question(tool_name: str, args: Any) -> str:
    """What the person is shown. Nothing in it can move the cursor or turn the reading direction round."""
    shown = json.dumps(args, ensure_ascii=False, indent=2, default=repr)
    if len(shown) > SHOWN_ARGUMENTS:
        shown = f"{shown[:SHOWN_ARGUMENTS]}\n... ({len(shown) - SHOWN_ARGUMENTS} characters more)"
    return (
        f"\nThe agent wants to run the tool {_visible(tool_name)} with\n{_visible(shown)}\n"
        "[1/o] allow once  [2/a] always allow  [anything else] deny: "
    )


def _visible(text: str) -> str:
    return "".join(
        each if each.isprintable() or each == "\n" else f"\\u{ord(each):04x}" for each in text
    )


def read_answer(line: str) -> Approval:
    """What a typed line means."""
    return _ANSWERS.get(line.strip().lower(), Approval.DENY)
