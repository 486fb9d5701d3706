"""A conversation: the history kept between turns, and the working list of a running turn.

Each message is encoded once, when it enters; a step sends what is encoded already. A turn works on a
list of its own and the history changes only when the turn closes, so whoever reads the history during
a turn sees the state before it. Not safe for use by several threads at once; the agent owns it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Raw

from actors.agent.history import repair_pairs, to_stored_history
from actors.agent.wire import encode_message
from actors.errors import AgentBusy
from actors.model.message import Message


class WorkingMessages:
    """The messages of a running turn, with their encoded forms beside them."""

    __slots__ = ("encoded", "messages")

    def __init__(self, messages: list[Message], encoded: list[Raw]) -> None:
        self.messages = messages
        self.encoded = encoded

    def add(self, message: Message) -> None:
        """Append one message."""
        self.encoded.append(encode_message(message))
        self.messages.append(message)


class Conversation:
    """See the module. `history` is repaired as `set_history` does it."""

    __slots__ = ("_encoded", "_messages", "_working")

    def __init__(self, history: Iterable[Message] = ()) -> None:
        self._messages: list[Message] = []
        self._encoded: list[Raw] = []
        self._working: WorkingMessages | None = None
        self.set_history(history)

    @property
    def in_turn(self) -> bool:
        """Whether a turn is open."""
        return self._working is not None

    def history(self) -> list[Message]:
        """A copy of the stored messages."""
        return list(self._messages)

    def set_history(self, messages: Iterable[Message]) -> None:
        """Replace the history; calls without answer and answers without call are dropped (gaia 1.5).

        Raises:
            AgentBusy: a turn is open.
        """
        self._refuse_in_turn("set the history")
        self._store(repair_pairs(list(messages)))

    def clear(self) -> None:
        """Forget everything. Raises AgentBusy as `set_history`."""
        self.set_history(())

    def copy(self) -> Conversation:
        """A conversation with the same history and a life of its own."""
        twin = Conversation()
        twin._messages, twin._encoded = list(self._messages), list(self._encoded)
        return twin

    def open_turn(self, messages: Sequence[Message]) -> WorkingMessages:
        """Begin a turn: the history and the caller's messages, in a list the turn may add to.

        Raises:
            AgentBusy: a turn is open already.
        """
        self._refuse_in_turn("begin a turn")
        working = WorkingMessages(list(self._messages), list(self._encoded))
        for message in messages:
            working.add(message)
        self._working = working
        return working

    def close_turn(self, limit: int) -> None:
        """End the turn, however it went: what it worked on becomes the history (gaia 1.5).

        At most `limit` messages are kept, the newest; 0 keeps all.
        """
        working = self._working
        if working is None:
            return
        self._working = None
        known = {id(each): raw for each, raw in zip(working.messages, working.encoded, strict=True)}
        self._store(to_stored_history(working.messages, limit), known)

    def _store(self, messages: list[Message], known: dict[int, Raw] | None = None) -> None:
        known = known or {}
        self._encoded = [known.get(id(each)) or encode_message(each) for each in messages]
        self._messages = messages

    def _refuse_in_turn(self, what: str) -> None:
        if self._working is not None:
            raise AgentBusy(f"cannot {what} while a turn runs; wait for its end, or cancel it")
