"""`user_folder`: where a user's files are, if nobody says otherwise (the XDG base directory specification)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def user_folder(environ: Mapping[str, str], own: str, shared: str, at_home: str) -> Path:
    """The folder that the variable `own` names, else `greenroom` in that of `shared`, else in `~/<at_home>`.

    As the specification has it, a `shared` that is no absolute path is ignored.

    Raises RuntimeError: the user has no home directory, or `~NAME` is that of nobody.
    """
    chosen, common = environ.get(own), environ.get(shared, "")
    if chosen:
        return Path(chosen).expanduser().absolute()
    return (Path(common) if common.startswith("/") else Path.home() / at_home) / "greenroom"
