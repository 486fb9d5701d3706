"""A stand-in for an agent: answers at once, or waits until it is cancelled."""

from __future__ import annotations

import threading
from collections.abc import Callable

from actors.agent.result import TurnResult
from actors.model.message import Message, ToolCall


class StandIn:
    """Keeps what was asked of it. A question that contains `wait` waits for `cancel`.

    `asked` is called with each question first, on the asking thread.
    """

    def __init__(self, asked: Callable[[str], None] = lambda text: None) -> None:
        self.questions: list[str] = []
        self.models: list[str] = []
        self.cancelled = threading.Event()
        self._asked = asked
        self._history: list[Message] = []

    def process_query(self, text: str, /) -> TurnResult:
        """An answer, or the notice of a cancelled turn."""
        self.questions.append(text)
        self._asked(text)
        self._history += [
            Message("user", text),
            Message("assistant", tool_calls=(ToolCall("1", "add"),)),
            Message("assistant", "word " * 40),
        ]
        if "wait" in text:
            assert self.cancelled.wait(10)
            return TurnResult("cancelled after 1 step(s)", 1, 20, "cancelled")
        return TurnResult("an answer", 1, 20, "answered")

    def cancel(self) -> None:
        """Let the waiting question end."""
        self.cancelled.set()

    def history(self) -> list[Message]:
        """What was said."""
        return list(self._history)

    def clear_history(self) -> None:
        """Forget it."""
        self._history.clear()

    def set_model(self, name: str, /) -> None:
        """Keep the name."""
        self.models.append(name)
