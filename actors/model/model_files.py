"""Where model files lie, and which of them are there. Looks at files, fetches nothing.

A model of the catalogue is `NAME.gguf` in the user's cache. Such a file has been checked when it was put
there, so that being there is enough; any other `.gguf` file is named by its path.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from actors.errors import LocalModelError
from actors.model.catalogue import (
    DEFAULT_MODEL,
    QWEN_HALF,
    SMOL,
    ModelTraits,
    entry_named,
    traits_of,
)
from actors.user_folder import user_folder

SUFFIX = ".gguf"


class FoundModel(Struct, frozen=True):
    """A model file that is there. `remark`, unless empty, is what its user should be told."""

    name: str
    path: Path
    traits: ModelTraits
    remark: str = ""


def cache_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """The user's cache: GREENROOM_CACHE_DIR, else `greenroom` in XDG_CACHE_HOME, else in `~/.cache`.

    Raises:
        LocalModelError: the user has no home directory, or `~NAME` is that of nobody.
    """
    try:
        return user_folder(environ, "GREENROOM_CACHE_DIR", "XDG_CACHE_HOME", ".cache")
    except RuntimeError as exc:
        raise LocalModelError(
            f"there is no home directory to keep models in ({exc}); "
            "set GREENROOM_CACHE_DIR to the absolute path of a folder"
        ) from exc


def models_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """The folder of the model files; it need not be there."""
    return cache_dir(environ) / "models"


def model_file(name: str, environ: Mapping[str, str] = os.environ) -> Path:
    """Where the model of that name lies once it is pulled."""
    return models_dir(environ) / f"{name}{SUFFIX}"


def pulled_models(environ: Mapping[str, str] = os.environ) -> list[str]:
    """The names of the models that are there, sorted."""
    found = models_dir(environ).glob(f"*{SUFFIX}")
    return sorted(path.stem for path in found if not path.name.startswith("."))


def find_model(name: str = "", environ: Mapping[str, str] = os.environ) -> FoundModel:
    """The file of a model: a name of the catalogue, of something pulled from an address, or a path.

    The empty name is the default model's.

    Raises:
        LocalModelError: it is not there; the message says how to get it.
    """
    if name.endswith(SUFFIX) or os.sep in name:
        return _at(Path(name).expanduser())
    entry = entry_named(name)
    known = entry.name if entry is not None else name
    path = model_file(known, environ)
    if path.is_file():
        if entry is not None and path.stat().st_size != entry.size_bytes:
            raise LocalModelError(
                f"the model file {str(path)!r} is damaged: expected {entry.size_bytes} bytes, it has "
                f"{path.stat().st_size}; fetch it again with `greenroom model pull {known}`"
            )
        return FoundModel(known, path, traits_of(known))
    if entry is None:
        raise LocalModelError(
            f"expected a model of `greenroom model list` or the path of a {SUFFIX} file, got {name!r}"
        )
    raise LocalModelError(
        f"the model {known} is not on this machine; fetch it with `greenroom model pull {known}`"
    )


def find_model_or_small(name: str = "", environ: Mapping[str, str] = os.environ) -> FoundModel:
    """As `find_model`; where the default model is asked for and not there but the small one is, that one.

    The small one comes with a remark, since it cannot do what the default can. Raises LocalModelError.
    """
    try:
        return find_model(name, environ)
    except LocalModelError:
        small = model_file(SMOL.name, environ)
        if entry_named(name) is not QWEN_HALF or not small.is_file():
            raise
    remark = (
        f"{DEFAULT_MODEL} is not there; {SMOL.name} answers instead, and it cannot choose tools"
    )
    return FoundModel(SMOL.name, small, SMOL.traits, remark)


def _at(path: Path) -> FoundModel:
    if not path.is_file():
        raise LocalModelError(f"expected a model file at {str(path)!r}, and none is there")
    return FoundModel(path.stem, path.absolute(), traits_of(path.stem))
