"""The real MCP servers that `make test` installs, and how each of them is started.

For the tests marked `real`. The servers lie in `mcp-servers` inside the environment that runs the tests
(see the Makefile and `tests/mcp-servers/`): an environment of their own with the Python servers and node,
and a `node_modules` with the JavaScript ones and the conformance suite.

    command = find_servers().everything()
    subprocess.Popen(command.argv, env=os.environ | command.env, ...)

The JavaScript servers speak revisions up to 2025-11-25, the Python ones 2026-07-28 too.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

SKIP = "GREENROOM_SKIP_REAL"
PLACE = Path(sys.prefix) / "mcp-servers"


@dataclass(frozen=True)
class ServerCommand:
    """What starts a server: `argv`, and `env` on top of the caller's own environment."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class McpServers:
    """The commands of the servers installed at `place`. Nothing is started here."""

    place: Path

    @property
    def python(self) -> Path:
        """The interpreter that has the official SDK."""
        return self.place / "bin" / "python"

    @property
    def node(self) -> Path:
        """Node, 22 or newer."""
        return self.place / "bin" / "node"

    @property
    def conformance(self) -> tuple[str, ...]:
        """The official conformance suite's command, to which its arguments are added."""
        return self._javascript("conformance")

    def everything(self) -> ServerCommand:
        """All that a server can do, over stdio."""
        return ServerCommand((*self._javascript("server-everything"), "stdio"))

    def everything_http(self, port: int) -> ServerCommand:
        """The same over Streamable HTTP, with sessions, at /mcp of `port`; all addresses of the machine."""
        argv = (*self._javascript("server-everything"), "streamableHttp")
        return ServerCommand(argv, {"PORT": str(port)})

    def memory(self, file: Path) -> ServerCommand:
        """A graph of facts, kept in `file`; no directory of it need exist before the first write."""
        return ServerCommand(self._javascript("server-memory"), {"MEMORY_FILE_PATH": str(file)})

    def filesystem(self, directory: Path) -> ServerCommand:
        """The files below `directory`, which must exist."""
        return ServerCommand((*self._javascript("server-filesystem"), str(directory)))

    def time(self) -> ServerCommand:
        """Times and time zones."""
        return ServerCommand(
            (str(self.place / "bin" / "mcp-server-time"), "--local-timezone", "UTC")
        )

    def git(self, repository: Path) -> ServerCommand:
        """A git repository, which must exist; needs the git program."""
        if shutil.which("git") is None:
            _do_without("the git server needs the git program; on Debian: apt install git")
        command = str(self.place / "bin" / "mcp-server-git")
        return ServerCommand((command, "--repository", str(repository)))

    def _javascript(self, package: str) -> tuple[str, ...]:
        # Not the link in node_modules/.bin: that one takes whatever node is first on the PATH.
        scope = self.place / "node_modules" / "@modelcontextprotocol"
        return (str(self.node), str(scope / package / "dist" / "index.js"))


def find_servers() -> McpServers:
    """The installed servers.

    Where they are missing the test is skipped with the advice, and fails in continuous integration
    (CI=true). GREENROOM_SKIP_REAL=1 skips in any case.
    """
    if os.environ.get(SKIP):
        pytest.skip(f"{SKIP} is set")
    servers = McpServers(PLACE)
    if missing := [path for path in _needed(servers) if not path.exists()]:
        _do_without(f"the MCP servers are not installed, {missing[0]} is missing: run make test")
    return servers


def _needed(servers: McpServers) -> list[Path]:
    scripts = [Path(servers.everything().argv[1]), Path(servers.conformance[1])]
    return [servers.python, servers.node, Path(servers.time().argv[0]), *scripts]


def _do_without(why: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(why, pytrace=False)
    pytest.skip(why)
