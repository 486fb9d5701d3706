"""What settings are called: one name here, the seeds' names on input and in gaia's JSON. Pure.

A setting's name is its field's, in snake_case. Gaia writes camelCase (`baseUrl`, `maxSteps`) and says
`modelId` for `model`; vix says `model_url` for `base_url`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from actors.errors import ConfigError

_OTHER_NAMES = {"modelId": "model", "model_url": "base_url", "modelUrl": "base_url"}

GAIA_FIELDS = (
    "base_url",
    "model",
    "max_steps",
    "max_plan_iterations",
    "max_consecutive_repeats",
    "max_history_messages",
    "context_size",
    "max_tokens",
    "debug",
    "show_prompts",
    "streaming",
    "silent_mode",
    "structured_events",
    "temperature",
    "response_mode",
    "native_tool_calls",
    "tool_choice",
    "skill_set",
    "skill_manifest",
)
"""The settings gaia knows (gaia 16), in the order of its JSON."""


def gaia_name(name: str) -> str:
    """What gaia calls a setting: `maxSteps` for `max_steps`."""
    if name == "model":
        return "modelId"
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def by_canonical_name(values: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    """Values under the names used here; those of settings that are not known are left out.

    If a setting is there under several names, its own wins, then the one that stands first.
    """
    found: dict[str, Any] = {}
    for name, value in values.items():
        canonical = _OTHER_NAMES.get(name) or _snake(name)
        if canonical in known and (name == canonical or canonical not in found):
            found[canonical] = value
    return found


def setting_error(name: str, problem: str) -> ConfigError:
    """The error for a setting; tells its names in the seeds' files where they differ."""
    others = [gaia_name(name)] if name in GAIA_FIELDS else []
    others += [other for other in _OTHER_NAMES if _OTHER_NAMES[other] == name and "_" in other]
    others = [other for other in others if other != name]
    return ConfigError(name, f"{problem} (also called {', '.join(others)})" if others else problem)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda found: "_" + found.group().lower(), name)
