"""Whether a path lies in a folder, links and `..` followed (gaia 5).

Looks at the disk, so the answer holds for this moment only: what may change a link between the check and
the use can get past it. Only what exists can be checked; for a file that is to be made, check its folder.
"""

from __future__ import annotations

from pathlib import Path


def validate_path(base: str, path: str) -> bool:
    """Whether `path` is the folder `base` or something inside it.

    Both are taken from the working directory unless they are absolute. False when either is empty, does
    not exist, runs in a circle of links or cannot be read.
    """
    if not base or not path:
        return False
    try:
        folder = Path(base).resolve(strict=True)
        return Path(path).resolve(strict=True).is_relative_to(folder)
    except (OSError, ValueError, RuntimeError):  # RuntimeError: a circle of links, before 3.13
        return False
