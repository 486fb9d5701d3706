"""Wheels of a few bytes that carry pieces of a "model", in a folder pip takes for its only index."""

from __future__ import annotations

import hashlib
import os
import zipfile
from pathlib import Path

from actors.model.catalogue import CatalogueEntry, ModelWheel

PIECES = (b"GGUF first ", b"second ", b"third")


def write_wheel(
    folder: Path, project: str, members: dict[str, bytes], version: str = "1.0"
) -> Path:
    """A wheel pip takes, with these members."""
    module = project.replace("-", "_")
    info = f"{module}-{version}.dist-info"
    files = {
        **members,
        f"{module}/__init__.py": b"raise SystemExit('a model wheel was imported')\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {project}\nVersion: {version}\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    path = folder / f"{module}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        archive.writestr(f"{info}/RECORD", "".join(f"{name},,\n" for name in files))
    return path


def sha256(content: bytes) -> str:
    """The SHA-256 in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


class TinyIndex:
    """The folder of wheels, a cache folder, and the environment in which pip and the pull see both."""

    def __init__(self, root: Path) -> None:
        self.wheels = root / "wheels"
        self.cache = root / "cache"
        self.wheels.mkdir()
        plain = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
        self.environ = {
            **plain,
            "GREENROOM_CACHE_DIR": str(self.cache),
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.wheels),
        }

    @property
    def models(self) -> Path:
        """Where pulled models lie."""
        return self.cache / "models"

    def entry(self, pieces: tuple[bytes, ...] = PIECES, name: str = "tiny") -> CatalogueEntry:
        """A model whose wheels are in the folder."""
        whole = b"".join(pieces)
        return CatalogueEntry(
            name=name,
            size_bytes=len(whole),
            sha256=sha256(whole),
            memory_bytes=0,
            licence="none",
            packager="this test",
            abilities="none",
            wheels=tuple(self._wheel(number, piece) for number, piece in enumerate(pieces, 1)),
        )

    def _wheel(self, number: int, piece: bytes) -> ModelWheel:
        project, member = f"tiny-part{number}", f"tiny_part{number}/data.bin"
        path = write_wheel(self.wheels, project, {member: piece})
        return ModelWheel(project, "1.0", member, sha256(path.read_bytes()))
