"""The area gaia/images: types, data URIs, files and the message that carries them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from actors.image import Image, detect_mime
from actors.model.message import user_message


def run(given: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    """Do what the case asks for."""
    match given["op"]:
        case "detect":
            return {"mime": detect_mime(bytes.fromhex(given["hex"]))}
        case "from_bytes":
            return _facts(Image.from_bytes(bytes.fromhex(given["hex"]), given.get("mime", "")))
        case "base64":
            uri = Image.from_bytes(bytes.fromhex(given["hex"]), "image/png").data_uri
            return {"text": uri.partition(",")[2]}
        case "from_file":
            return _facts(Image.from_file(_made(given, tmp_path)))
        case "user_message":
            images = [Image.from_bytes(bytes.fromhex(each)) for each in given["images"]]
            message = user_message(given["text"], [image.data_uri for image in images])
            return {"message": message.wire()}
    raise AssertionError(f"unknown operation {given!r}")


def _facts(image: Image) -> dict[str, Any]:
    return {"mime": image.mime, "size": len(image.data), "data_uri": image.data_uri}


def _made(given: dict[str, Any], tmp_path: Path) -> Path:
    """The file, link or whatever the case wants to be read."""
    path = tmp_path / str(given.get("name", "image"))
    data = bytes.fromhex(given.get("hex", ""))
    _MAKERS[given["kind"]](path, data.ljust(given.get("pad_to", 0), b"\0"))
    return path


def _link(path: Path, data: bytes) -> None:
    target = path.with_name("target")
    target.write_bytes(data)
    path.symlink_to(target)


_MAKERS: dict[str, Callable[[Path, bytes], Any]] = {
    "regular": Path.write_bytes,
    "directory": lambda path, _: path.mkdir(),
    "symlink": _link,
    "fifo": lambda path, _: os.mkfifo(path),
    "missing": lambda _path, _data: None,
}
