"""A file of MCP servers: where it is looked for, and what stands in it (gaia 8).

Strict JSON, encoded as UTF-8, a byte-order mark allowed. It names commands that are going to be run, so
it is read whole or refused, and never looked for in the working directory. Blocks on the disk.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from actors.errors import MCPRegistryError

LIMIT_BYTES = 4 * 1024 * 1024
"""The largest file that is read; one of a thousand servers has about 200,000 bytes."""

_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_PLACE = re.compile(r" \(byte (\d+)\)$")


def config_directory(environ: Mapping[str, str] = os.environ) -> Path:
    """`GAIA_CONFIG_DIR` if it is set and not empty, else `.gaia` in HOME, else in /tmp."""
    chosen = environ.get("GAIA_CONFIG_DIR")
    home = environ.get("HOME") or "/tmp"  # noqa: S108 - the seed's rule
    return Path(chosen) if chosen else Path(home) / ".gaia"


def default_paths(environ: Mapping[str, str] = os.environ) -> tuple[Path, ...]:
    """`mcp.json` and `mcp_servers.json` of that directory; the latter wins."""
    directory = config_directory(environ)
    return directory / "mcp.json", directory / "mcp_servers.json"


def file_exists(path: Path) -> bool:
    """Whether something stands there, of whatever kind; a link that leads nowhere does not count.

    Raises:
        MCPRegistryError: that cannot be told, for want of permission for example.
    """
    return _mode(path) is not None


def read_servers(path: Path) -> dict[str, Any] | None:
    """The entries of a file by their ids, unchecked; None if there is no such file.

    Raises:
        MCPRegistryError: it cannot be read, is no regular file or larger than `LIMIT_BYTES`, is no JSON
            object, or has neither `mcpServers` nor `servers` with an object in it.
    """
    data = _read(path)
    return None if data is None else _servers(path, _decoded(path, data))


def kind_of(value: object) -> str:
    """What JSON calls a decoded value."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
    return "object"


def _mode(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (
        OSError,
        ValueError,
    ) as error:  # ValueError: no path at all, with a NUL in it for example
        raise _unreadable(path, error) from error


def _read(path: Path) -> bytes | None:
    """The bytes; looked at before it is opened, for opening a device may do something, and after."""
    mode = _mode(path)
    if mode is None:
        return None
    _require_regular(path, mode)
    try:
        with open(path, "rb", opener=_open_at_once) as file:
            _require_regular(path, os.fstat(file.fileno()).st_mode)
            data = file.read(LIMIT_BYTES + 1)
    except FileNotFoundError:  # taken away between the two
        return None
    except OSError as error:
        raise _unreadable(path, error) from error
    if len(data) > LIMIT_BYTES:
        raise MCPRegistryError(
            f"the MCP server file {str(path)!r} is larger than {LIMIT_BYTES} bytes; "
            "it should hold nothing but servers"
        )
    return data


def _open_at_once(path: str, flags: int) -> int:
    """Open without waiting for another end, should it have become a pipe."""
    return os.open(path, flags | os.O_NONBLOCK)


def _require_regular(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = "a directory" if stat.S_ISDIR(mode) else "no regular file"
        raise MCPRegistryError(
            f"the MCP server file {str(path)!r} is {kind}; put a JSON file there, or nothing"
        )


def _unreadable(path: Path, error: OSError | ValueError) -> MCPRegistryError:
    why = error.strerror if isinstance(error, OSError) else str(error)
    return MCPRegistryError(
        f"the MCP server file {str(path)!r} cannot be read: {why}; mend its path or its permissions, "
        "or let GAIA_CONFIG_DIR name another directory"
    )


def _decoded(path: Path, data: bytes) -> object:
    try:
        if data.startswith(_UTF16_MARKS):
            raise MCPRegistryError(
                f"the MCP server file {str(path)!r} is encoded as UTF-16; save it as UTF-8"
            )
        value: object = msgspec.json.decode(data.removeprefix(_UTF8_MARK))
    except (msgspec.DecodeError, RecursionError) as error:
        raise MCPRegistryError(
            f"the MCP server file {str(path)!r} is not valid JSON: "
            f"{_reason(data.removeprefix(_UTF8_MARK), error)}; mend it, or take it away"
        ) from error
    return value


def _reason(data: bytes, error: Exception) -> str:
    """What is wrong and where, by line; the two liberties people take are called by their names."""
    if not data.strip():
        return "it is empty"
    text = str(error)
    found = _PLACE.search(text)
    if found is None:
        return text[:1].lower() + text[1:]
    byte = int(found[1])
    line = data.count(b"\n", 0, byte) + 1
    around = data[max(byte - 1, 0) : byte + 2]
    if any(sign in around for sign in (b"//", b"/*", b"#")):
        return f"line {line} has a comment, which JSON does not have"
    if "trailing comma" in text:
        return f"line {line} has a trailing comma, which JSON does not allow"
    what = text[: found.start()].removeprefix("JSON is malformed: ")
    return f"{what} in line {line}"


def _servers(path: Path, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise MCPRegistryError(
            f"the MCP server file {str(path)!r} must be an object with the key 'mcpServers', "
            f"but is of type {kind_of(value)}"
        )
    key = "mcpServers" if "mcpServers" in value else "servers"
    if key not in value:
        raise MCPRegistryError(
            f"the MCP server file {str(path)!r} has no key 'mcpServers'; "
            'expected {"mcpServers": {"<id>": {"command": "...", "args": []}}}'
        )
    servers = value[key]
    if not isinstance(servers, dict):
        raise MCPRegistryError(
            f"the MCP server file {str(path)!r}: {key!r} must be an object of servers by their ids, "
            f"but is of type {kind_of(servers)}"
        )
    return servers
