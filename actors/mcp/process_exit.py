"""`ExitWatch`: tells the event loop that a child process has ended, and leaves it to be waited for.

A process that has ended and was not waited for keeps its number, and its group's. So until its owner ends
it, however late, that number cannot mean strangers: neither to the owner nor to the warden. asyncio's own
watchers wait at once; they also cost a thread for each process, before Python 3.12.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

_LOOK_S = 0.05


class ExitWatch:
    """Calls `ended` once, on the loop, with the return code as `subprocess` has it; None: nobody knows it.

    By a pidfd (Linux 5.3); where none can be had, by looking twenty times a second.
    """

    def __init__(self, pid: int, ended: Callable[[int | None], None]) -> None:
        self._pid = pid
        self._ended = ended
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.Handle | None = None
        try:
            self._pidfd = os.pidfd_open(pid)
        except OSError:  # an old kernel, a sandbox that forbids it, no descriptor left
            self._pidfd = -1
            self._timer = self._loop.call_soon(self._look)
        else:
            self._loop.add_reader(self._pidfd, self._look)

    def close(self) -> None:
        """Tell nothing any more. May be repeated."""
        if self._timer is not None:
            self._timer.cancel()
        if self._pidfd >= 0:
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = -1

    def _look(self) -> None:
        try:
            end = os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:  # somebody waits for all children, or ignores SIGCHLD
            self._tell(None)
            return
        if end is not None:
            self._tell(end.si_status if end.si_code == os.CLD_EXITED else -end.si_status)
        elif self._pidfd < 0:
            self._timer = self._loop.call_later(_LOOK_S, self._look)

    def _tell(self, status: int | None) -> None:
        self.close()
        self._ended(status)
