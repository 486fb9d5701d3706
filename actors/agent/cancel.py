"""The request to end a turn early.

One token belongs to one turn; whoever holds it may ask from any thread, once or often, before, during
or after the turn. The turn looks at it between its steps and between the calls of one reply, and while
it waits for the model or a tool the wait is broken off.
"""

from __future__ import annotations

from collections.abc import Callable


class CancelToken:
    """See the module. `requested` says whether somebody asked."""

    __slots__ = ("_listener", "_requested")

    def __init__(self) -> None:
        self._requested = False
        self._listener: Callable[[], None] | None = None

    @property
    def requested(self) -> bool:
        """Whether the end was asked for."""
        return self._requested

    def request(self) -> None:
        """Ask for the end. Returns at once; safe from any thread."""
        self._requested = True
        listener = self._listener
        if listener is not None:
            listener()

    def listen(self, listener: Callable[[], None] | None) -> None:
        """Set, or with None remove, what `request` calls; only the running turn does this.

        The listener runs on the asking thread and must not raise. Look at `requested` after listening:
        a request just before was not heard.
        """
        self._listener = listener
