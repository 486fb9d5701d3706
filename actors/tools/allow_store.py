"""The always-allow store: tools a person has allowed once and for all (gaia 5).

One file for all agents of a user: `{"version": 1, "allowed_tools": [...]}`, sorted, indented by two. A
missing, corrupt or foreign file allows nothing. Every change is written through, in one step (a new file
renamed over the old), so that a crash never leaves half of it.
"""

from __future__ import annotations

import os
import tempfile
import threading
from pathlib import Path
from typing import Any

import msgspec

from runtime.events import log


def default_store_path() -> Path:
    """`~/.gaia/security/allowed_tools.json`, in HOME, else in /tmp."""
    home = os.environ.get("HOME") or "/tmp"  # noqa: S108 - the seed's rule
    return Path(home) / ".gaia" / "security" / "allowed_tools.json"


class AllowStore:
    """The names in one file. Safe from any thread; other processes' changes are seen when it is made."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or default_store_path()
        self._lock = threading.Lock()
        self._names = _read(self._path)

    def is_always_allowed(self, name: str) -> bool:
        """Whether the tool of that full name runs without being asked about."""
        return name in self._names

    def all_allowed(self) -> list[str]:
        """The names in order."""
        return sorted(self._names)

    def add(self, name: str) -> None:
        """Allow a tool once and for all."""
        with self._lock:
            self._names.add(name)
            self._write()

    def remove(self, name: str) -> None:
        """Ask about a tool again."""
        with self._lock:
            self._names.discard(name)
            self._write()

    def clear_all(self) -> None:
        """Ask about every tool again."""
        with self._lock:
            self._names.clear()
            self._write()

    def _write(self) -> None:
        value = {"version": 1, "allowed_tools": sorted(self._names)}
        data = msgspec.json.format(msgspec.json.encode(value), indent=2)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self._path.parent, delete=False) as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(file.name).replace(self._path)
        except OSError as error:
            log.warning("allow_store_not_written", path=str(self._path), error=str(error))


def _read(path: Path) -> set[str]:
    try:
        value: Any = msgspec.json.decode(path.read_bytes())
    except FileNotFoundError:
        return set()
    except (OSError, msgspec.DecodeError) as error:
        log.warning("allow_store_unreadable", path=str(path), error=str(error))
        return set()
    names = value.get("allowed_tools") if isinstance(value, dict) else None
    return {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()
