"""One line of `greenroom doctor`: what is, whether that is well, and what to do if not."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Mark = Literal["ok", "note", "problem"]


class Finding(Struct, frozen=True):
    """* `ok`: as it should be.
    * `note`: something is not there that may be wanted; `advice` says how to get it.
    * `problem`: something will not work; `advice` says how to mend it.
    """

    mark: Mark
    text: str
    advice: str = ""
