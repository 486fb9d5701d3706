"""Where the store of a user is, if nobody says otherwise."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def default_store_path(environ: Mapping[str, str] = os.environ) -> Path:
    """`store.db` in GREENROOM_DATA_DIR, else in `greenroom` below XDG_DATA_HOME, else below `~/.local/share`.

    As the XDG base directory specification has it, an XDG_DATA_HOME that is no absolute path is ignored.
    """
    chosen = environ.get("GREENROOM_DATA_DIR", "")
    if chosen:
        return Path(chosen) / "store.db"
    shared = Path(environ.get("XDG_DATA_HOME", ""))
    base = shared if shared.is_absolute() else Path.home() / ".local" / "share"
    return base / "greenroom" / "store.db"
