"""Which adapter runs which area. An adapter is `run(input, tmp_path) -> result`; it lets errors pass."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.conformance import (
    gaia_database,
    gaia_images,
    gaia_json_recovery,
    gaia_mcp_registry,
    gaia_native_tools,
    gaia_scenario,
    gaia_security,
    gaia_sse,
    gaia_vector,
)

Adapter = Callable[[dict[str, Any], Path], Any]


def _native_tools(given: dict[str, Any], tmp_path: Path) -> Any:
    area = gaia_scenario if given["op"] == "scenario" else gaia_native_tools
    return area.run(given, tmp_path)


AREAS: dict[str, Adapter] = {
    "gaia/agent_loop": gaia_scenario.run,
    "gaia/database": gaia_database.run,
    "gaia/images": gaia_images.run,
    "gaia/json_recovery": gaia_json_recovery.run,
    "gaia/mcp_registry": gaia_mcp_registry.run,
    "gaia/native_tools": _native_tools,
    "gaia/security": gaia_security.run,
    "gaia/vector": gaia_vector.run,
    "gaia/sse": gaia_sse.run,
}

SKIPPED: dict[str, str] = {}
"""Cases believed wrong, or that cannot run here, each with its reason."""
