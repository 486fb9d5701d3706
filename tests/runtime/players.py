"""The actors the tests of the runtime put on stage, and what they wait with.

A `Reply` serves as a gate: any thread may set it, any thread or coroutine may wait for it.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

from runtime import Actor, ActorRef, BlockingActor, Reply

LIMIT_S = 20.0
"""Bound of every wait; nothing is expected to take so long."""

T = TypeVar("T")


class Boom(Exception):
    """What failing actors raise."""


class Echo(Actor):
    """Answers with what it was asked."""

    def on_receive(self, message: Any) -> Any:
        return message


class Player(Actor):
    """Does what the message, a function, does with it: plain or async."""

    def on_receive(self, message: Callable[[Any], Any]) -> Any:
        return message(self)


class Strict(Player):
    """A player that fails for every error, asked or not."""

    expected_errors = ()


class BlockingPlayer(BlockingActor):
    """A player on a thread of its own."""

    def on_receive(self, message: Callable[[Any], Any]) -> Any:
        return message(self)


class StrictBlocking(BlockingPlayer):
    """A blocking player that fails for every error."""

    expected_errors = ()


class Noted(Strict):
    """Notes the events of its life as `event name` in a list it is given."""

    def __init__(self, name: str, notes: list[str]) -> None:
        super().__init__()
        self.label = name
        self.notes = notes

    def note(self, event: str) -> None:
        self.notes.append(f"{event} {self.label}")

    def on_start(self) -> Any:
        self.note("start")

    def on_restart(self, reason: Any) -> Any:
        self.note("restart")

    def on_stop(self) -> Any:
        self.note("stop")

    def on_failure(self, *_: Any) -> Any:
        self.note("fail")


class Held:
    """A piece of work that says when it has begun and goes on when it is let: `held.work` or `held.awork`."""

    def __init__(self) -> None:
        self.begun: Reply[None] = Reply()
        self.let_go = threading.Event()
        self.free: Reply[None] = Reply()

    def work(self, _: Any = None) -> str:
        """Blocks the thread that runs it."""
        self.begun.settle()
        if not self.let_go.wait(LIMIT_S):
            raise TimeoutError("nobody let the work go on")
        return "done"

    async def awork(self, _: Any = None) -> str:
        """Suspends the coroutine that runs it."""
        self.begun.settle()
        await self.free
        return "done"

    def wait(self) -> None:
        """Wait until the work has begun."""
        self.begun.get(timeout=LIMIT_S)

    def release(self) -> None:
        """Let the work go on."""
        self.let_go.set()
        self.free.settle()


class PausingDeque(deque[Any]):
    """A deque whose next `append` waits: the moment between a look and an act, held open."""

    def __init__(self) -> None:
        super().__init__()
        self.reached = threading.Event()
        self.go_on = threading.Event()

    def append(self, item: Any, /) -> None:
        """Say that it was reached, wait, append."""
        self.reached.set()
        assert self.go_on.wait(LIMIT_S)
        super().append(item)


def fail(error: BaseException | None = None) -> Callable[[Any], Any]:
    """A message that makes a player raise."""

    def raise_it(_: Any) -> None:
        raise error if error is not None else Boom("as told")

    return raise_it


def asking(other: ActorRef[Any], message: Any) -> Callable[[Any], Any]:
    """A message that makes a player ask another one and answer with its answer."""

    async def ask(_: Any) -> Any:
        return await other.aask(message)

    return ask


def in_thread(function: Callable[[], T]) -> Reply[T]:
    """Run a function on a thread of its own; the reply has its outcome."""
    reply: Reply[T] = Reply()

    def run() -> None:
        try:
            reply.settle(function())
        except BaseException as error:
            reply.settle(error=error)

    threading.Thread(target=run, name="test").start()
    return reply


def until(fact: Callable[[], bool]) -> None:
    """Wait for a fact that nothing announces, with a bound."""
    deadline = time.monotonic() + LIMIT_S
    pause = threading.Event()
    while not fact():
        assert time.monotonic() < deadline, "the fact did not come about"
        pause.wait(0.001)
