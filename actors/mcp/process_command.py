"""What exactly is executed for a `StdioServer`: program, arguments, environment, directory."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from actors.errors import McpConnectionLost
from actors.mcp.config import StdioServer

_MINIMAL = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "TZ", "TMPDIR")
_MINIMAL_PREFIX = "LC_"


class Launch(Struct, frozen=True):
    """`program` is the path of an executable file; `directory` exists, None is this process's."""

    program: str
    args: tuple[str, ...]
    env: dict[str, str]
    directory: str | None


def launch_of(name: str, server: StdioServer, ours: Mapping[str, str]) -> Launch:
    """What to execute for the server of that name; `ours` is this process's environment.

    Raises:
        McpConnectionLost: the command or the directory is not there; says where it was looked for.
    """
    directory = server.cwd or None
    if directory is not None and not Path(directory).is_dir():
        raise McpConnectionLost(
            f"server {name!r}: its working directory {directory!r} is no directory; create it or correct cwd"
        )
    env = environment_of(server, ours)
    return Launch(_found(name, server, env.get("PATH", os.defpath)), server.args, env, directory)


def environment_of(server: StdioServer, ours: Mapping[str, str]) -> dict[str, str]:
    """The variables the server gets; see `StdioServer.environment`."""
    if server.environment == "inherit":
        chosen = dict(ours)
    else:
        chosen = {
            name: value
            for name, value in ours.items()
            if name in _MINIMAL or name.startswith(_MINIMAL_PREFIX)
        }
    return chosen | dict(server.env)


def _found(name: str, server: StdioServer, path: str) -> str:
    """The command as an absolute path; one with a slash is taken from the server's directory."""
    if "/" in server.command:
        command = str(Path(server.cwd or ".", server.command).absolute())
        found = shutil.which(command)
        where = f"there is no executable file {command!r}"
    else:
        found = shutil.which(server.command, path=path)
        where = f"it is not on the PATH its process gets, {path!r}"
    if found is None:
        raise McpConnectionLost(
            f"server {name!r}: the command {server.command!r} is not found: {where}; "
            "install it, or give its whole path"
        )
    return str(Path(found).absolute())
