"""`extract_text`: the text in a file, by what the file is called and what is in it (gaia part 2).

Any file that holds text is read: Markdown, source, configuration. What is no text is refused by name (PDF,
Office) or because it holds a NUL. `register_extractor` adds a format, or takes the place of a rule here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from actors.errors import ExtractionError, InvalidArgument

Extractor = Callable[[Path], str]
"""Gives the text in a file. What it raises reaches the caller of `extract_text`."""

LIMIT_BYTES: Final = 64 * 1024 * 1024

_REFUSED: Final = {
    ".pdf": "PDF",
    ".doc": "Word",
    ".docx": "Word",
    ".xls": "Excel",
    ".xlsx": "Excel",
    ".ppt": "PowerPoint",
    ".pptx": "PowerPoint",
    ".odt": "OpenDocument",
    ".ods": "OpenDocument",
    ".odp": "OpenDocument",
}

_registered: dict[str, Extractor] = {}
_changing = threading.Lock()


def register_extractor(extension: str, extractor: Extractor) -> None:
    """Use `extractor` for files whose name ends so, from now on, in the whole process.

    `extension` is such as ".pdf", in any case. Raises InvalidArgument: it does not begin with a point.
    """
    if len(extension) < 2 or not extension.startswith("."):  # a point and a letter
        raise InvalidArgument(f"extension is {extension!r}, expected one such as '.pdf'")
    with _changing:
        _registered[extension.lower()] = extractor


def extract_text(path: Path) -> str:
    """The text in a file. Bytes that are no UTF-8 are read as latin-1; a byte order mark is left out.

    Raises ExtractionError: the file cannot be read, is no text, or is larger than `LIMIT_BYTES`.
    """
    kind = path.suffix.lower()
    with _changing:
        extractor = _registered.get(kind)
    if extractor is not None:
        return extractor(path)
    if kind in _REFUSED:
        raise ExtractionError(
            f"{str(path)!r} is a file of {_REFUSED[kind]}, which is no text; "
            f"`register_extractor({kind!r}, ...)` takes a function that reads it"
        )
    return _decoded(path, _content(path))


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(LIMIT_BYTES + 1)
    except OSError as error:
        raise ExtractionError(f"cannot read {str(path)!r}: {error.strerror}") from error
    if len(content) > LIMIT_BYTES:
        raise ExtractionError(f"{str(path)!r} is larger than {LIMIT_BYTES} bytes")
    return content


def _decoded(path: Path, content: bytes) -> str:
    if b"\0" in content:
        raise ExtractionError(f"{str(path)!r} is binary: it holds a NUL")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")
