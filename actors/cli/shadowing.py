"""Whether another module named `runtime` or `actors` takes the place of ours.

Two such plain names are easily taken twice: by a file in the directory a script is started from, which
Python looks at first, or by another installed package.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from pathlib import Path

from actors.cli.finding import Finding

NAMES = ("runtime", "actors")
OURS = Path(__file__).resolve().parents[2]
"""The directory that holds our two packages."""


def shadowing(
    directory: Path, *, owners: Mapping[str, Sequence[str]] | None = None
) -> Iterator[Finding]:
    """What an import of our names finds: in this process, from `directory`, and among all packages.

    `owners` maps a module's name to the installed distributions that bring it; None looks them up.
    """
    brought_by = packages_distributions() if owners is None else owners
    found = False
    for name in NAMES:
        for finding in _of_name(name, directory, brought_by.get(name, ())):
            found = True
            yield finding
    if not found:
        yield Finding("ok", f"modules {' and '.join(NAMES)} are ours, in {OURS}")


def _of_name(name: str, directory: Path, owners: Sequence[str]) -> Iterator[Finding]:
    loaded = place_of(find_spec(name))
    if loaded != OURS / name:
        yield Finding(
            "problem",
            f"`import {name}` finds {loaded}, not ours in {OURS / name}",
            f"rename or remove {loaded}, or move it behind ours in PYTHONPATH",
        )
    local = place_of(PathFinder.find_spec(name, [str(directory)]))
    if local not in (None, OURS / name):
        yield Finding(
            "problem",
            f"a script started in this directory would import {local} as {name!r}",
            "rename it, or start your scripts elsewhere",
        )
    others = sorted({owner for owner in owners if owner != "greenroom"})
    if others:
        yield Finding(
            "problem",
            f"another installed package brings a module {name!r}: {', '.join(others)}",
            f"use an environment of its own for greenroom, or uninstall {others[0]}",
        )


def place_of(spec: ModuleSpec | None) -> Path | None:
    """The directory of a package or the file of a module; None if there is none.

    A directory without an `__init__.py` is the weakest find: anything else of that name comes before it,
    so it counts only when nothing else does.
    """
    if spec is None:
        return None
    if spec.submodule_search_locations is not None:
        first = next(iter(spec.submodule_search_locations), None)
        weak = spec.origin is None
        return None if first is None or weak else Path(first).resolve()
    return Path(spec.origin).resolve() if spec.origin else None
