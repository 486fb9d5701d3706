"""Real MCP servers over Streamable HTTP on a free port: started, killed, started again, and ended.

    with everything_http(servers, tmp_path) as server:
        ...                 # server.url
        server.kill()       # as a crash would
        server.start()      # at the same address, remembering no session

Everything here blocks; on an event loop call it by `asyncio.to_thread`. What a server writes goes to a file
in `tmp_path`, whose end is shown when it does not start.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

import pytest

from tests.mcp_servers import McpServers, ServerCommand

START_LIMIT_S = 60.0
STOP_LIMIT_S = 10.0
TRIES = 3

MODERN_PROGRAM = Path(__file__).with_name("mcp_modern_server.py")


class HttpServer:
    """A server in a process of its own. `url` is its endpoint, the same after every start."""

    def __init__(self, command_for: Callable[[int], ServerCommand], log: Path) -> None:
        self._command_for = command_for
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0

    @property
    def url(self) -> str:
        """Where it listens, or did."""
        return f"http://127.0.0.1:{self.port}/mcp"

    @property
    def pid(self) -> int:
        """The process; only while it is started."""
        assert self._process is not None, "the server is not started"
        return self._process.pid

    @property
    def log(self) -> str:
        """What it has written so far."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    def start(self) -> None:
        """Start it and wait until it takes connections; the first time on a free port.

        A free port may be taken by another between the look and the server's own, hence some tries.
        """
        assert self._process is None, "the server is started"
        tries = 1 if self.port else TRIES
        for _ in range(tries):
            port = self.port or free_port()
            if self._started(port):
                self.port = port
                return
        pytest.fail(f"{self._command_for(0).argv} did not start:\n{self.log[-2000:]}")

    def _started(self, port: int) -> bool:
        command = self._command_for(port)
        with self._log.open("ab") as log:
            process = subprocess.Popen(
                command.argv,
                env=os.environ | command.env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self._process = process
        deadline = time.monotonic() + START_LIMIT_S
        while process.poll() is None and time.monotonic() < deadline:
            if takes_connections(port) and process.poll() is None:
                return True
            time.sleep(0.02)
        self.kill()
        return False

    def stop(self) -> None:
        """End it as its owner would, by a signal; by force what does not end in time. May be called twice."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            self.kill()
        self._process = None

    def kill(self) -> None:
        """End it as a crash would. May be called twice."""
        if self._process is None:
            return
        self._process.kill()
        self._process.wait(STOP_LIMIT_S)
        self._process = None

    def __enter__(self) -> HttpServer:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()


def everything_http(servers: McpServers, directory: Path) -> HttpServer:
    """The reference server of everything: 2025-11-25, with sessions, GET streams and DELETE."""
    return HttpServer(servers.everything_http, directory / "everything.log")


def modern_http(servers: McpServers, directory: Path) -> HttpServer:
    """A server of the official SDK: 2026-07-28, and older ones for who asks by `initialize`.

    Its tools are `echo(text)`, `slow(seconds)`, which reports progress ten times, and `failing()`;
    see `mcp_modern_server.py`.
    """

    def command_for(port: int) -> ServerCommand:
        return ServerCommand((str(servers.python), str(MODERN_PROGRAM), str(port)))

    return HttpServer(command_for, directory / "modern.log")


def free_port() -> int:
    """A port on loopback that nobody listens on now."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port


def takes_connections(port: int) -> bool:
    """Whether somebody listens on a port of loopback."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1.0):
            return True
    except OSError:
        return False
