"""The protocol revisions spoken here, and what the two eras put into their messages.

*Legacy* revisions (up to 2025-11-25) begin with `initialize`. *Modern* ones (from 2026-07-28) begin with
nothing: each request says in its `_meta` which revision it speaks and what its sender can do.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from msgspec import Struct

MODERN: Final = ("2026-07-28",)
LEGACY: Final = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Newest first; the first is asked for."""

UNSUPPORTED_VERSION: Final = -32022
"""A modern server does not speak the revision of a request; `data.supported` says which it does."""

PROTOCOL_VERSION: Final = "io.modelcontextprotocol/protocolVersion"
CLIENT_CAPABILITIES: Final = "io.modelcontextprotocol/clientCapabilities"
CLIENT_INFO: Final = "io.modelcontextprotocol/clientInfo"
SERVER_INFO: Final = "io.modelcontextprotocol/serverInfo"
"""In the `_meta` of modern results; legacy servers have `serverInfo` in their answer to `initialize`."""


class Agreed(Struct, frozen=True):
    """What both sides have agreed on, and what the server says of itself.

    `server` is its name and version (`serverInfo`); `instructions` what it tells the model, '' for nothing.
    """

    revision: str
    legacy: bool
    capabilities: dict[str, Any]
    server: dict[str, Any]
    instructions: str = ""

    def can(self, group: str, feature: str) -> bool:
        """Whether the server offers a feature of a group: `can("tools", "listChanged")`."""
        offered = self.capabilities.get(group)
        return isinstance(offered, dict) and offered.get(feature) is True


@cache
def own_info() -> Mapping[str, str]:
    """The name and version this side gives."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415  takes long

    try:
        return {"name": "greenroom", "version": version("greenroom")}
    except PackageNotFoundError:  # a source tree that was never installed
        return {"name": "greenroom", "version": "0"}


def modern_meta(revision: str, capabilities: Mapping[str, Any]) -> dict[str, Any]:
    """The `_meta` of each modern request."""
    return {
        PROTOCOL_VERSION: revision,
        CLIENT_CAPABILITIES: capabilities,
        CLIENT_INFO: own_info(),
    }


def supported_by(said: object) -> list[str] | None:
    """The list of revisions in `data.supported` or `supportedVersions`; None if it is no such list."""
    if isinstance(said, list) and all(isinstance(each, str) for each in said):
        return said
    return None


def mutual(theirs: list[str] | None, ours: tuple[str, ...]) -> str | None:
    """The newest revision of ours that is among theirs."""
    return next((each for each in ours if each in (theirs or ())), None)


def agreed_from(said: Mapping[str, Any], revision: str, *, legacy: bool) -> Agreed:
    """The agreement, from the result of `initialize` or `server/discover`; what is odd in it is left out."""
    instructions = said.get("instructions")
    server = said.get("serverInfo") or _object(said.get("_meta")).get(SERVER_INFO)
    return Agreed(
        revision=revision,
        legacy=legacy,
        capabilities=_object(said.get("capabilities")),
        server=_object(server),
        instructions=instructions if isinstance(instructions, str) else "",
    )


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
