"""Supervision decisions as pure functions: what to restart, in which order, when to give up, how long to wait.

Terms, defaults and order are OTP's (`supervisor`): children start in order and stop in reverse; more
than `max_restarts` restarts within `window` seconds and the supervisor gives up.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from typing import Any, Literal, TypeVar, get_args

from msgspec import Struct

from runtime.childspec import Restart
from runtime.errors import MisuseError

Strategy = Literal["one_for_one", "one_for_all", "rest_for_one"]

SERVICE_RESTARTS = 1000
"""Restarts of services within the window before the system gives up: never, since back-off keeps them few.

A service has many users, and a model server that dies a few times in a row must not end them all.
"""

C = TypeVar("C")


def is_failure(reason: Any) -> bool:
    """Whether an actor ended abnormally: `"normal"` and `"shutdown"` are not failures."""
    return isinstance(reason, BaseException)


def restarts(kind: Restart, reason: Any) -> bool:
    """Whether a child that ended by itself for `reason` is restarted (OTP's table)."""
    match kind:
        case "permanent":
            return True
        case "transient":
            return is_failure(reason)
        case "temporary":
            return False


def affected(strategy: Strategy, children: Sequence[C], failed: C) -> list[C]:
    """Which children are restarted with `failed`, in start order, itself among them."""
    match strategy:
        case "one_for_one":
            return [failed]
        case "one_for_all":
            return list(children)
        case "rest_for_one":
            return list(children[children.index(failed) :])


def check_strategy(strategy: str, max_restarts: int, window: float) -> None:
    """Raises MisuseError naming the supervisor setting that cannot be."""
    if strategy not in get_args(Strategy):
        raise MisuseError(
            f"strategy: expected one of {', '.join(get_args(Strategy))}, got {strategy!r}"
        )
    if max_restarts < 0:
        raise MisuseError(f"max_restarts: expected 0 or more, got {max_restarts!r}")
    if not window > 0:
        raise MisuseError(f"window: expected seconds > 0, got {window!r}")


class RestartIntensity:
    """Counts restarts in a sliding window; times are those of the system's clock, in seconds."""

    def __init__(self, max_restarts: int, window: float) -> None:
        self._max = max_restarts
        self._window = window
        self._times: deque[float] = deque()

    def allows(self, now: float) -> bool:
        """Record a restart at `now`; False if it is one too many for the window."""
        self._times.append(now)
        while self._times[0] < now - self._window:
            self._times.popleft()
        return len(self._times) <= self._max


class Backoff(Struct, frozen=True):
    """How long to wait before a restart: `initial * factor**n` seconds, at most `maximum`.

    * `n` counts restarts in a row; after `reset_after` seconds without a failure it starts from 0.
    * `jitter` (0 to 1): each delay is made shorter by a random share of up to this much, so that many
      children that failed together do not come back together. 0 makes delays exact.

    While a child waits, its mailbox holds the messages. The restart intensity still applies.
    """

    initial: float = 0.1
    maximum: float = 30.0
    factor: float = 2.0
    jitter: float = 0.1
    reset_after: float = 60.0

    def check(self) -> None:
        """Raises MisuseError naming the field that cannot be."""
        if not self.initial > 0 or not self.maximum >= self.initial:
            raise MisuseError(
                f"Backoff: expected 0 < initial <= maximum, got {self.initial!r} and {self.maximum!r}"
            )
        if not self.factor >= 1:
            raise MisuseError(f"Backoff.factor: expected 1 or more, got {self.factor!r}")
        if not 0 <= self.jitter <= 1:
            raise MisuseError(f"Backoff.jitter: expected 0 to 1, got {self.jitter!r}")
        if not self.reset_after > 0:
            raise MisuseError(
                f"Backoff.reset_after: expected seconds > 0, got {self.reset_after!r}"
            )

    def delay(self, attempt: int, chance: float | None = None) -> float:
        """Seconds before restart number `attempt` in a row (from 0); `chance` in 0..1 fixes the jitter."""
        exponent = min(attempt, 1024)
        try:
            full = min(self.initial * self.factor**exponent, self.maximum)
        except OverflowError:
            full = self.maximum
        share = random.random() if chance is None else chance  # noqa: S311 - spreading, not secrecy
        return full * (1.0 - self.jitter * share)
