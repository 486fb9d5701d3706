"""Which lists of migrations can be run, decided before anything is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from actors.errors import DatabaseError

_GREATEST: Final = 2**31 - 1  # SQLite keeps it in 32 bits


def check_steps(steps: Sequence[tuple[int, str]], *, at: int, db_path: str) -> None:
    """Versions, each with its description, against the rules of gaia section 12, for a database `at` one.

    Raises DatabaseError: a version is not above 0 or not above the one before it, or the database's is above
    the last. An empty list fits all.
    """
    last = 0
    for version, description in steps:
        if not last < version <= _GREATEST:
            raise DatabaseError(
                f"migration to version {version} ({description}) is out of order: versions are above 0, and "
                f"each is above the one before it, here {last}",
                db_path=db_path,
            )
        last = version
    if steps and at > last:
        raise DatabaseError(
            f"the database is at version {at}, newer than the last migration known here, "
            f"{last}; use a newer program",
            db_path=db_path,
        )
