"""Where the store of a user is, if nobody says otherwise."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from actors.user_folder import user_folder


def default_store_path(environ: Mapping[str, str] = os.environ) -> Path:
    """`store.db` in GREENROOM_DATA_DIR, else in `greenroom` below XDG_DATA_HOME, else below `~/.local/share`.

    Raises RuntimeError: the user has no home directory, or `~NAME` is that of nobody.
    """
    return user_folder(environ, "GREENROOM_DATA_DIR", "XDG_DATA_HOME", ".local/share") / "store.db"
