"""Getting a model file from an address of the user's, with a SHA-256 that says which file it must be.

Promises as `actors.model.pull`, but a download that was cut begins anew. Blocks.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

import httpx

from actors.errors import InvalidArgument, LocalModelError
from actors.model.catalogue import entry_named
from actors.model.model_files import SUFFIX, model_file
from actors.model.pull import (
    OnProgress,
    PullProgress,
    alone,
    ignore_progress,
    put_in_place,
    sha256_of,
)
from actors.model.redaction import shown_url

_TIMEOUTS = httpx.Timeout(60.0, connect=30.0)
_PLAIN = {"Accept-Encoding": "identity"}
_TOLD_EVERY = 16 * 1024 * 1024
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")


def pull_url(
    url: str,
    sha256: str,
    *,
    name: str = "",
    environ: Mapping[str, str] = os.environ,
    on_progress: OnProgress = ignore_progress,
) -> Path:
    """Have the file at `url` in the cache as the model `name`; without a name, the one in the address.

    The connect timeout is 30 s, each silence of the server may last 60 s; redirects are followed and the
    environment's proxies used.

    Raises:
        InvalidArgument: address, hash or name cannot be one.
        LocalModelError: it cannot be had, is not what it should be, or there is no room for it.
    """
    parsed = _address(url)
    if not _SHA256.fullmatch(sha256):
        raise InvalidArgument(f"expected a SHA-256 of 64 hexadecimal digits, got {sha256!r}")
    chosen = name or Path(parsed.path).name.removesuffix(SUFFIX)
    if not _NAME.fullmatch(chosen):
        raise InvalidArgument(
            f"expected a model name of letters, digits and ._+-, got {chosen!r}; give one after the address"
        )
    if entry_named(chosen) is not None:
        raise InvalidArgument(f"{chosen!r} is a model of the catalogue; give yours another name")
    target = model_file(chosen, environ)
    with alone(target, on_progress) as work:
        if target.is_file():
            on_progress(PullProgress("checking"))
            _require_same(target, sha256)
            return target
        download = work / "download"
        try:
            _download(parsed, download, on_progress)
            on_progress(PullProgress("checking"))
            put_in_place(download, target, sha256, work)
        finally:
            download.unlink(missing_ok=True)
    return target


def _require_same(target: Path, sha256: str) -> None:
    found = sha256_of(target)
    if found != sha256.lower():
        raise LocalModelError(
            f"another model is named {target.stem} already, its SHA-256 is {found}; "
            f"give yours another name, or remove {str(target)!r}"
        )


def _address(url: str) -> httpx.URL:
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as exc:
        raise InvalidArgument(f"expected the address of a model file, got {url!r}: {exc}") from exc
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise InvalidArgument(
            f"expected an address that begins with http:// or https://, got {url!r}; "
            "a file on this machine needs no pull, its path is its name"
        )
    return parsed


def _download(url: httpx.URL, into: Path, on_progress: OnProgress) -> None:
    shown = shown_url(str(url))
    try:
        with (
            httpx.stream(
                "GET", url, headers=_PLAIN, follow_redirects=True, timeout=_TIMEOUTS
            ) as answer,
            into.open("wb") as file,
        ):
            if not answer.is_success:
                raise LocalModelError(
                    f"{shown} answers with status {answer.status_code}; check the address"
                )
            total, told = int(answer.headers.get("content-length", "0")), 0
            on_progress(PullProgress("fetching", 0, total))
            for chunk in answer.iter_raw():
                file.write(chunk)
                if file.tell() - told >= _TOLD_EVERY:
                    told = file.tell()
                    on_progress(PullProgress("fetching", told, total))
    except httpx.HTTPError as exc:
        reason = str(exc) or type(exc).__name__
        raise LocalModelError(
            f"{shown} cannot be fetched ({reason}); check the address and the network, and pull again"
        ) from exc
