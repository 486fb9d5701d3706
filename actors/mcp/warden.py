"""`Warden`: a small process that ends a server's process group when this process was killed.

    warden = Warden.start(2)         # before there is a server, so that none is ever without
    warden.guard(pid)                # the server's process group
    await warden.aclose()            # the server was ended; the warden goes too

A process that gets SIGKILL ends nothing by itself. Most servers go when their input ends; one that does not,
and what it has started, would stay for ever. So beside each server waits a shell that reads from a pipe
whose other end is ours alone: when that ends without a word, the shell sends SIGTERM to the group, and
SIGKILL some seconds later. It costs no processor time and a few hundred KiB of memory.

prctl(PR_SET_PDEATHSIG), the usual means, is sent when the *thread* that started the server ends, is lost at
an exec of a set-user-id program, and does not reach the processes of the server.

What it cannot do: a server that made a session of its own (a daemon) has left the group. A process that
forked off this one without exec (`multiprocessing` with `fork`) holds the pipe as well, so that the warden
waits for its end too. Between a server's start and `guard` lie some microseconds.

The group's number cannot be another's by then: a server that has ended is waited for only a moment before
its warden is told to go (see `actors.mcp.process_exit`).
"""

from __future__ import annotations

import asyncio
import math
import os
import subprocess

import structlog

_log = structlog.get_logger(__name__)

# $1: seconds between the two signals. The second `read` fails at the end of the pipe.
# The signals that end a terminal's or a service's processes are for the owner, whose end is what counts.
_SCRIPT = """
trap '' HUP INT TERM
read -r group || exit 0
read -r word && exit 0
exec 2>/dev/null
kill -s TERM -- "-$group"
left=$1
while [ "$left" -gt 0 ] && kill -s 0 -- "-$group"; do sleep 1; left=$((left - 1)); done
kill -s KILL -- "-$group"
"""
_SHELL = "/bin/sh"
_PATIENCE_S = 2.0
_FIRST_LOOK_S = 0.001
_LONGEST_WAIT_S = 0.05


class Warden:
    """See the module. Made by `start`."""

    def __init__(self, shell: subprocess.Popen[bytes], pipe: int) -> None:
        self._shell = shell
        self._pipe = pipe

    @classmethod
    def start(cls, wait_s: float) -> Warden:
        """Start one that waits `wait_s` seconds, rounded up, between SIGTERM and SIGKILL.

        Raises:
            OSError: there is no shell, or no process can be started.
        """
        reading, writing = os.pipe()  # no child inherits either end
        try:
            shell = subprocess.Popen(  # noqa: S603  nothing in it comes from outside
                [_SHELL, "-c", _SCRIPT, "greenroom-warden", str(math.ceil(wait_s))],
                stdin=reading,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={"PATH": os.defpath},
                start_new_session=True,
            )
        except BaseException:
            os.close(writing)
            raise
        finally:
            os.close(reading)
        return cls(shell, writing)

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._shell.pid

    def guard(self, group: int) -> None:
        """From now on this process group does not outlive this process."""
        self._tell(f"{group}\n".encode())

    def _tell(self, line: bytes) -> None:
        try:
            os.write(self._pipe, line)  # never waits: the pipe holds two short lines at most
        except OSError as error:
            _log.warning("a server's warden is gone", pid=self._shell.pid, error=str(error))

    async def aclose(self) -> None:
        """Nothing is left to guard: wait until the warden's process is gone; bounded in time. Called once."""
        self._tell(b"go\n")
        os.close(self._pipe)
        # Polled, because a thread or a watch that waits costs more than the process waited for.
        clock = asyncio.get_running_loop().time
        end, wait_s = clock() + _PATIENCE_S, _FIRST_LOOK_S
        while self._shell.poll() is None:
            if clock() > end:
                _log.warning("a server's warden does not go by itself", pid=self._shell.pid)
                self._shell.kill()
                end = math.inf  # SIGKILL needs no second one
            await asyncio.sleep(wait_s)
            wait_s = min(wait_s * 2, _LONGEST_WAIT_S)
