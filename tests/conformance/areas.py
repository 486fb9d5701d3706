"""Which adapter runs which area. An adapter is `run(input, tmp_path) -> result`; it lets errors pass."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.conformance import (
    gaia_json_recovery,
    gaia_native_tools,
    gaia_sse,
)

Adapter = Callable[[dict[str, Any], Path], Any]

AREAS: dict[str, Adapter] = {
    "gaia/json_recovery": gaia_json_recovery.run,
    "gaia/native_tools": gaia_native_tools.run,
    "gaia/sse": gaia_sse.run,
}

SKIPPED: dict[str, str] = {}
"""Cases believed wrong, or that cannot run here, each with its reason."""
