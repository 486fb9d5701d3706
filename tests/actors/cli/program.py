"""The command as a process of its own: with pipes, or at a real pseudo terminal."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
COMMAND = (sys.executable, "-W", "error", "-m", "actors.cli")


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """This environment, with the source importable and a plain terminal."""
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "TERM": "xterm",
        "NO_COLOR": "1",
        **(extra or {}),
    }


def run_command(
    arguments: Sequence[str], *, stdin: str = "", cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run it to its end, bounded."""
    return subprocess.run(
        [*COMMAND, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=30,
        env=environment(),
        cwd=cwd,
        check=False,
    )


class AtTerminal:
    """A running command whose three streams are one terminal."""

    def __init__(self, process: subprocess.Popen[bytes], master: int) -> None:
        self.process = process
        self.seen = ""
        self._master = master
        self._passed = 0

    def type(self, text: str) -> None:
        """Press these keys."""
        os.write(self._master, text.encode())

    def press_ctrl_c(self) -> None:
        """What the terminal would send."""
        self.process.send_signal(signal.SIGINT)

    def press_ctrl_c_until(self, text: str) -> None:
        """Press it at the prompt, again and again: readline misses one that comes just before it waits."""
        for _ in range(60):
            self.press_ctrl_c()
            if self._came(text, time.monotonic() + 0.5):
                break
        self.wait_for(text)

    def wait_for(self, text: str, bound_s: float = 30.0) -> None:
        """Until `text` is among what was printed since the last wait; fails after `bound_s`."""
        came = self._came(text, time.monotonic() + bound_s)
        assert came, f"{text!r} did not come; came {self.seen[self._passed :]!r}"
        self._passed = self.seen.index(text, self._passed) + len(text)

    def _came(self, text: str, deadline: float) -> bool:
        while text not in self.seen[self._passed :]:
            left_s = max(deadline - time.monotonic(), 0)
            if not select.select([self._master], [], [], left_s)[0]:
                return False
            self.seen += os.read(self._master, 65536).decode("utf-8", "replace")
        return True

    def ended(self) -> int:
        """The exit code."""
        return self.process.wait(30)


@contextmanager
def at_terminal(arguments: Sequence[str], *, cwd: Path | None = None) -> Iterator[AtTerminal]:
    """Start the command; it is killed at the end if it still runs."""
    master, slave = os.openpty()
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=environment(),
        cwd=cwd,
    )
    os.close(slave)
    try:
        yield AtTerminal(process, master)
    finally:
        process.kill()
        process.wait()
        os.close(master)
