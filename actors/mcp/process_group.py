"""A server's process group: whether anything of it runs, and how it is ended.

A server is started in a session of its own, so that the group has its number and holds what it starts,
unless that makes a session of its own. Linux gives the number to no other process while the group has a
member. `/proc` tells members that run from those that have ended and that nobody has waited for: in a
container whose first process waits for nobody, those stay.
"""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

_PROC = Path("/proc")
_FIRST_LOOK_S = 0.005
_LONGEST_WAIT_S = 0.1
_GONE = ("Z", "X")


def signal_group(group: int, number: signal.Signals) -> None:
    """Send a signal to all of a group that may be signalled; nothing happens if nobody is left."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        pass  # all have gone, or belong to another user by now; `group_runs` tells which


def group_runs(group: int) -> bool:
    """Whether a process of the group runs. Reads all of `/proc` if anything is left of it."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return not _PROC.joinpath("self/stat").exists() or any(
        _runs_in(group, entry) for entry in _PROC.iterdir() if entry.name.isdigit()
    )


def _runs_in(group: int, entry: Path) -> bool:
    try:
        stat = entry.joinpath("stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return False  # it has ended meanwhile
    state, _, of_group = stat.rpartition(")")[2].split()[:3]  # the name before it may hold anything
    return int(of_group) == group and state not in _GONE


async def end_group(group: int, step_s: float) -> bool:
    """SIGTERM, then SIGKILL to what is left after `step_s` seconds; whether nothing is left in the end."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if not group_runs(group):
            return True
        signal_group(group, number)
        if await _gone_within(group, step_s):
            return True
    return False


async def _gone_within(group: int, limit_s: float) -> bool:
    """Polled, since nobody is told of the end of a process that is not its child."""
    clock = asyncio.get_running_loop().time
    end, wait_s = clock() + limit_s, _FIRST_LOOK_S
    while group_runs(group):
        if clock() > end:
            return False
        await asyncio.sleep(wait_s)
        wait_s = min(wait_s * 2, _LONGEST_WAIT_S)
    return True
