"""What is installed: Python, greenroom, what it needs, and its extras."""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, requires, version

from actors.cli.finding import Finding

OLDEST_PYTHON = (3, 11)

EXTRAS: Mapping[str, tuple[str, str]] = {
    "local": ("xllamacpp", "to run a model on this machine"),
    "fast": ("uvloop", "for a faster event loop"),
}
"""Extra -> the package it brings, and what for."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def greenroom_version() -> str:
    """The installed version; `unknown` when run from source without being installed."""
    return version_of("greenroom") or "unknown"


def version_of(package: str) -> str | None:
    """The version of an installed distribution, None if there is none."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def installation() -> Iterator[Finding]:
    """Python, greenroom, dependencies, extras."""
    yield python(sys.version_info[:3])
    yield from _greenroom()
    for extra, (package, purpose) in EXTRAS.items():
        yield optional(extra, package, purpose)


def python(found: Sequence[int]) -> Finding:
    """Whether this Python is new enough."""
    said = ".".join(str(part) for part in found)
    if tuple(found[:2]) < OLDEST_PYTHON:
        return Finding("problem", f"Python {said}", "install Python 3.11 or newer")
    return Finding("ok", f"Python {said} on {platform.system()} {platform.machine()}")


def optional(extra: str, package: str, purpose: str) -> Finding:
    """Whether an extra is there."""
    found = version_of(package)
    if found is not None:
        return Finding("ok", f"extra {extra!r}: {package} {found}")
    return Finding(
        "note", f"extra {extra!r} is not installed", f"{purpose}: pip install 'greenroom[{extra}]'"
    )


def _greenroom() -> Iterator[Finding]:
    own = version_of("greenroom")
    if own is None:
        yield Finding("note", "greenroom is run from source, not installed", "pip install -e .")
        return
    needed = [_NAME.match(line) for line in requires("greenroom") or () if "extra ==" not in line]
    names = [match.group() for match in needed if match is not None]
    found = {name: version_of(name) for name in names}
    missing = [name for name in names if found[name] is None]
    there = ", ".join(f"{name} {found[name]}" for name in names if found[name] is not None)
    yield Finding("ok", f"greenroom {own}, with {there}")
    for name in missing:
        yield Finding("problem", f"{name} is not installed", f"pip install {name}")
