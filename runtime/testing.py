"""Tests without sleeping: an actor system on virtual time.

    with VirtualSystem() as system:
        ref = system.spawn(Ticker)            # self.send_every(60.0, "tick")
        system.advance(3600.0)                # an hour, in milliseconds
        assert ref.ask("count") == 60

The clock stands still while any actor, worker thread or the test itself works. It moves in `advance`,
and, as far as the next timer, while the test blocks in `ask` or `get` and no actor can go on. Sockets
work, but time does not wait for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runtime.clock import VirtualLoop
from runtime.reply import Reply
from runtime.system import ActorSystem


class VirtualSystem(ActorSystem):
    """An `ActorSystem` whose `clock()` starts at 0 and moves only when nobody works."""

    def __init__(self, name: str = "virtual", **settings: Any) -> None:
        self._loop = VirtualLoop(
            lambda: self.loop_thread.outside_work > 0, lambda: self.loop_thread.outside_waiters > 0
        )
        super().__init__(name, loop_watch_s=None, loop_factory=lambda: self._loop, **settings)
        self.virtual = self.loop_thread
        self.loop_thread.on_virtual_time = True

    def advance(self, seconds: float) -> None:
        """Let `seconds` of virtual time go by, every timer in it firing in order, and settle."""
        reached: Reply[None] = Reply(virtual=None)
        self.loop_thread.post(self._move_horizon, seconds, reached)
        reached.get(timeout=30.0)
        self.settle()

    def _move_horizon(self, seconds: float, reached: Reply[None]) -> None:
        self._loop.horizon = self._loop.time() + seconds
        self._loop.call_later(seconds, reached.settle)

    def settle(self) -> None:
        """Wait until no actor has anything to do at the present moment."""
        self.run_until(self._is_quiet)

    def _is_quiet(self) -> bool:
        busy = self.loop_thread
        return not (busy.ready or busy.posted or busy.outside_work) and self._loop.is_idle()

    def run_until(self, fact: Callable[[], bool], *, turns: int = 100_000) -> None:
        """Let the loop turn, without moving the clock, until `fact()` is true.

        Raises AssertionError if it is not after that many turns of the loop; turns in which a worker
        thread works do not count. What `fact` raises is raised here.
        """
        done: Reply[bool] = Reply()
        self.loop_thread.post(self._turn, fact, turns, 3, done)
        if not done.get(timeout=30.0):
            raise AssertionError("the fact did not come about although nobody had anything to do")

    def _turn(self, fact: Callable[[], bool], left: int, quiet: int, done: Reply[bool]) -> None:
        try:
            true = fact()
        except BaseException as error:  # noqa: BLE001 - it is raised where the fact was asked for
            done.settle(error=error)
            return
        if true and quiet == 0:
            done.settle(True)
        elif left == 0:
            done.settle(False)
        else:
            counts = self.loop_thread.outside_work == 0
            self._loop.call_soon(self._turn, fact, left - counts, quiet - 1 if true else 3, done)
