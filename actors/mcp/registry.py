"""MCPRegistry: the MCP servers a user has configured, by their ids (gaia 8).

So that an agent connects to `github` without knowing how `github` is started. The files are those of gaia
and of its connectors. An agent that lost its tools without a word is worse than one that refuses to
start: whatever gives no configuration is an error that says which file, which id and what to do.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from actors.errors import InvalidArgument, MCPRegistryError
from actors.mcp.config import McpServerConfig
from actors.mcp.registry_entry import is_switched_off, read_entry
from actors.mcp.registry_file import default_paths, file_exists, kind_of, read_servers

_MOST_NAMED = 50
"""Ids a message lists; more are counted."""


class _Entry(Struct, frozen=True):
    """An entry as its file has it, and that file."""

    path: Path
    value: Any

    def __repr__(self) -> str:
        """Without the entry, which may hold secrets."""
        return f"_Entry({str(self.path)!r})"


_Entries = dict[str, _Entry]


class MCPRegistry:
    """The servers of some files. Safe from any thread.

    Plain and synchronous: every method but `reload` may read files, and `resolve` and `require` may ask
    the keyring, which may ask a person. From a coroutine call them in a thread.

    The files are read at the first look-up and kept until `reload`. A later file wins, id by id. While
    one of them is malformed every look-up fails; mended, the next look-up succeeds. A bad entry
    fails only where it is asked for.
    """

    def __init__(
        self, paths: Sequence[str | Path] | None = None, *, environ: Mapping[str, str] = os.environ
    ) -> None:
        """`paths`: lowest precedence first; None for `mcp.json` and `mcp_servers.json` of the directory
        GAIA_CONFIG_DIR names, else of `~/.gaia`. `environ` gives that name, HOME, and at each look-up
        what placeholders stand for.

        Raises:
            InvalidArgument: `paths` is empty, or one text.
        """
        if isinstance(paths, str):
            raise InvalidArgument(f"paths must be a list of paths, got the text {paths!r}")
        chosen = default_paths(environ) if paths is None else tuple(map(Path, paths))
        if not chosen:
            raise InvalidArgument("paths is empty; expected a path, or None for the usual ones")
        self._paths = chosen
        self._environ = environ
        self._lock = threading.Lock()
        self._entries: _Entries | None = None

    def __repr__(self) -> str:
        return f"MCPRegistry({[str(path) for path in self._paths]!r})"

    def list_servers(self) -> list[str]:
        """All ids in order, those of disabled and of unusable entries too.

        Raises:
            MCPRegistryError: there is no file, or one is malformed; so for every look-up.
        """
        return sorted(self._loaded())

    def resolve(self, server_id: str) -> McpServerConfig | None:
        """The configuration of a server, with the values of variables and secrets; None for an unknown id.

        Raises:
            MCPRegistryError: it is disabled or unusable, a variable is not set, a secret cannot be had.
        """
        return self._config(self._loaded(), server_id)

    def require(self, server_id: str) -> McpServerConfig:
        """As `resolve`, for an id that has to be there.

        Raises:
            MCPRegistryError: as `resolve`, and for an unknown id.
        """
        entries = self._loaded()
        config = self._config(entries, server_id)
        if config is None:
            raise self._unknown(entries, server_id)
        return config

    def entry(self, server_id: str) -> dict[str, Any]:
        """A copy of an entry as it is written: nothing checked or replaced, unknown fields included.

        For showing what is configured; a value written into the file may be a secret.

        Raises:
            MCPRegistryError: unknown id, or the entry is no object.
        """
        found = self._found(server_id)
        if not isinstance(found.value, dict):
            raise MCPRegistryError(
                f"MCP server {server_id!r} in {str(found.path)!r}: must be an object, "
                f"but is of type {kind_of(found.value)}"
            )
        copy: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(found.value))
        return copy

    def is_disabled(self, server_id: str) -> bool:
        """Whether an entry is switched off, so that a caller can pass it over.

        False also for an entry that is unusable; `require` says why.

        Raises:
            MCPRegistryError: unknown id.
        """
        return is_switched_off(self._found(server_id).value)

    def config_exists(self) -> bool:
        """Whether one of the files is there. Looks at the disk each time."""
        return any(file_exists(path) for path in self._paths)

    def config_path(self) -> Path:
        """The file of the highest precedence that is there, else the one that would have it."""
        there = (path for path in reversed(self._paths) if file_exists(path))
        return next(there, self._paths[-1])

    def reload(self) -> None:
        """Forget what was read; the next look-up reads the files anew."""
        with self._lock:
            self._entries = None

    def _loaded(self) -> _Entries:
        """The entries of all files; nobody changes the dict once it is here."""
        with self._lock:
            if self._entries is None:
                self._entries = self._read()
            return self._entries

    def _read(self) -> _Entries:
        entries: _Entries = {}
        found_any = False
        for path in self._paths:
            servers = read_servers(path)
            if servers is not None:
                found_any = True
                entries.update((name, _Entry(path, value)) for name, value in servers.items())
        if not found_any:
            raise MCPRegistryError(
                f"there is no file of MCP servers; searched {self._searched()}; "
                f"write {str(self._paths[-1])!r}, or let GAIA_CONFIG_DIR name its directory"
            )
        return entries

    def _config(self, entries: _Entries, server_id: str) -> McpServerConfig | None:
        found = entries.get(server_id)
        if found is None:
            return None
        try:
            return read_entry(found.value, self._environ)
        except MCPRegistryError as error:
            raise MCPRegistryError(
                f"MCP server {server_id!r} in {str(found.path)!r}: {error} ({self._known(entries)})"
            ) from error.__cause__

    def _found(self, server_id: str) -> _Entry:
        entries = self._loaded()
        found = entries.get(server_id)
        if found is None:
            raise self._unknown(entries, server_id)
        return found

    def _unknown(self, entries: _Entries, server_id: str) -> MCPRegistryError:
        return MCPRegistryError(
            f"MCP server {server_id!r} is not configured ({self._known(entries)}); "
            f"add it to {str(self._paths[-1])!r}"
        )

    def _known(self, entries: _Entries) -> str:
        """Where was searched, and what there is to have (the seed's rule for messages)."""
        if not entries:
            return f"searched {self._searched()}; no servers are configured"
        more = len(entries) - _MOST_NAMED
        names = ", ".join(sorted(entries)[:_MOST_NAMED])
        return f"searched {self._searched()}; available: {names}" + f" and {more} more" * (more > 0)

    def _searched(self) -> str:
        return ", ".join(map(str, self._paths))
