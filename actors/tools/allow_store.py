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
    """The names in one file. Safe from any thread.

    Reads the file when it is made and before each change, so that what other processes allowed or took
    back in between is kept. A change that cannot be written is logged and holds for this process only.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or default_store_path()
        self._lock = threading.Lock()
        self._names = _read(self._path)
        self._saved = True

    def is_always_allowed(self, name: str) -> bool:
        """Whether the tool of that full name runs without being asked about. Reads no file."""
        return name in self._names

    def all_allowed(self) -> list[str]:
        """The names in order."""
        return sorted(self._names)

    def add(self, name: str) -> None:
        """Allow a tool once and for all. Blocks on the disk, as do the other changes."""
        with self._lock:
            self._change(self._latest() | {name})

    def remove(self, name: str) -> None:
        """Ask about a tool again."""
        with self._lock:
            self._change(self._latest() - {name})

    def clear_all(self) -> None:
        """Ask about every tool again."""
        with self._lock:
            self._change(frozenset())

    def _latest(self) -> frozenset[str]:
        return _read(self._path) if self._saved else self._names

    def _change(self, names: frozenset[str]) -> None:
        self._names = names
        value = {"version": 1, "allowed_tools": sorted(names)}
        try:
            _write(self._path, msgspec.json.format(msgspec.json.encode(value), indent=2))
            self._saved = True
        except OSError as error:
            self._saved = False
            log.warning("allow_store_not_written", path=str(self._path), error=str(error))


def _write(path: Path, data: bytes) -> None:
    """Put a whole new file, readable by its owner only, in the place of the old one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def _read(path: Path) -> frozenset[str]:
    try:
        value: Any = msgspec.json.decode(path.read_bytes())
    except FileNotFoundError:
        return frozenset()
    except (OSError, msgspec.DecodeError, RecursionError) as error:
        log.warning("allow_store_unreadable", path=str(path), error=str(error))
        return frozenset()
    names = value.get("allowed_tools") if isinstance(value, dict) else None
    if not isinstance(names, list):
        log.warning("allow_store_unreadable", path=str(path), error="'allowed_tools' is no list")
        return frozenset()
    return frozenset(name for name in names if isinstance(name, str))
