"""The loop thread: one thread, one event loop, one run queue of actors that have something to do.

Ready cells wait in one deque; a single loop callback drains it in slices, beside the loop's own
input and output, so a message costs no loop callback of its own. At most `SLICE` messages of one
cell, then the next cell; at most `DRAIN` messages, then the sockets and timers get their turn.

Two flags make waking cheap and race-free: `awake` says that a drain is scheduled. A sender appends
first and then looks at the flag; the drain clears the flag first and then looks at the deque. Either
the sender sees the flag down and wakes the loop, or the drain sees what was appended.

The end has the same shape: `end` sets the reason and takes the flag down, a sender that wakes looks at
the reason last, and the thread drains once more before it closes the loop. So what is posted is called,
or its sender is told by `SystemEnded` (at the very end possibly both).
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from runtime.clock import new_loop
from runtime.errors import SystemEnded
from runtime.events import log
from runtime.waits import CURRENT, thread_state

SLICE = 64
"""Most messages one cell handles before the next ready cell has its turn."""

DRAIN = 1024
"""Most messages handled before the loop looks at its sockets and timers again."""


class LoopThread:
    """Owns the thread and the event loop of one system. `start` and `stop` are called once each."""

    def __init__(
        self,
        name: str,
        *,
        uvloop: bool | None = None,
        loop_factory: Callable[[], asyncio.AbstractEventLoop] | None = None,
    ) -> None:
        self.loop, self.kind = (loop_factory(), "custom") if loop_factory else new_loop(uvloop)
        self.ready: deque[Any] = deque()
        self.posted: deque[tuple[Callable[..., None], tuple[Any, ...]]] = deque()
        self.awake = False
        self.outside_waiters = 0
        self.outside_work = 0
        self.on_virtual_time = False
        self._counting = threading.Lock()
        self.running_now: Any = None
        self.on_interrupt: Callable[[BaseException], None] = _reraise
        self.ended: str | None = None  # why nothing is accepted any more
        self._leaving = False
        self._base = contextvars.Context()
        self._thread = threading.Thread(target=self._main, name=f"greenroom-{name}", daemon=True)
        self.ident: int = 0

    # -- life -----------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the thread; returns when the loop runs."""
        started = threading.Event()
        self.loop.call_soon(started.set)
        self._thread.start()
        started.wait()

    def _main(self) -> None:
        self.ident = threading.get_ident()
        thread_state.loop_thread = self
        asyncio.set_event_loop(self.loop)
        try:
            self._serve()
        finally:
            try:
                self._finish()
            finally:
                asyncio.set_event_loop(None)
                self.loop.close()
                self.ident = 0  # a later thread may get the same number

    def _serve(self) -> None:
        """Run the loop; an interrupt out of an actor's task must not end it before its system has."""
        while True:
            try:
                self.loop.run_forever()
            except (KeyboardInterrupt, SystemExit) as error:
                self.on_interrupt(error)
                if self._leaving:
                    return
            else:
                return

    def _finish(self) -> None:
        """Cancel what is left, give it one chance to clean up, and call what was posted meanwhile."""
        left = asyncio.all_tasks(self.loop)
        for task in left:
            task.cancel()
        if left:
            self.loop.run_until_complete(asyncio.wait(left, timeout=1.0))
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.end(self.ended or "the event loop has ended")
        while self.posted:
            self._call_posted()

    def stop(self, timeout_s: float) -> bool:
        """Stop the loop and wait for the thread; False if a handler holds it beyond the timeout."""
        if self._thread.is_alive():
            try:
                self.loop.call_soon_threadsafe(self.leave)
            except RuntimeError:
                pass  # the loop was closed between the look and the call: it has ended already
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def leave(self) -> None:
        """Stop serving, on the loop thread. Once only: a second stop would break off the cleaning up."""
        if not self._leaving:
            self._leaving = True
            self.loop.stop()

    def end(self, why: str) -> None:
        """From now on nothing is accepted: `post` and waking raise SystemEnded saying `why`."""
        self.ended = why
        self.awake = False

    def here(self) -> bool:
        """Whether the calling thread is the loop thread."""
        return threading.get_ident() == self.ident

    # -- work -----------------------------------------------------------------------------------

    def post(self, function: Callable[..., None], *args: Any) -> None:
        """Call `function(*args)` on the loop thread soon; in order per sender; from any thread."""
        self.posted.append((function, args))
        if not self.awake:
            self.wake()

    def wake(self) -> None:
        """Schedule a drain. Raises SystemEnded where the loop no longer runs."""
        self.awake = True
        if self.ended is not None:
            self.awake = False
            raise SystemEnded(self.ended)
        if threading.get_ident() == self.ident:
            self.loop.call_soon(self._drain, context=self._base)
            return
        try:
            self.loop.call_soon_threadsafe(self._drain, context=self._base)
        except RuntimeError as error:
            raise SystemEnded("the actor system has shut down") from error

    def count_outside_work(self, change: int) -> None:
        """Count jobs on other threads, for which virtual time stands still; from any thread."""
        with self._counting:
            self.outside_work += change
        if change < 0 and self.on_virtual_time:
            self.poke()

    def poke(self) -> None:
        """Make a waiting loop look at its clock again (virtual time)."""
        try:
            self.loop.call_soon_threadsafe(_nothing)
        except RuntimeError:
            pass  # closed: there is no clock to look at, and whoever waits has been answered

    def _drain(self) -> None:
        posted, ready = self.posted, self.ready
        try:
            self._call_posted()
            budget = DRAIN
            base = self._base
            while budget > 0 and not posted:
                try:
                    cell = ready.popleft()
                except IndexError:
                    break
                self.running_now = cell
                budget -= base.copy().run(_run_slice, cell)
        except Exception:  # noqa: BLE001 - the rim of the runtime: a bug here must be seen, not stop the loop
            log.critical("runtime_fault", exc_info=True)
        finally:
            self.running_now = None
            self._drain_again()

    def _call_posted(self) -> None:
        for _ in range(len(self.posted)):
            function, args = self.posted.popleft()
            try:
                function(*args)
            except Exception:  # noqa: BLE001 - as above, and the next one must be called
                log.critical("runtime_fault", exc_info=True)

    def _drain_again(self) -> None:
        """Schedule the next drain if there is more to do, or let senders wake the loop again."""
        if not (self.ready or self.posted):
            self.awake = False
            if not (self.ready or self.posted):
                return
        self.awake = True
        self.loop.call_soon(self._drain, context=self._base)


def _run_slice(cell: Any) -> int:
    CURRENT.set(cell)
    return int(cell.run())


def _reraise(error: BaseException) -> None:
    raise error


def _nothing() -> None:
    """Wakes the selector."""
