"""Settings from the environment, as gaia reads them when it builds an agent (gaia 16).

The command applies them beneath its options. A program calls `with_environment` itself where it wants
that: settings passed in code are not changed behind its back.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import msgspec

from actors.config import AgentConfig

_TEXTS = {"GAIA_BASE_URL": "base_url", "GAIA_MODEL_ID": "model"}

_NUMBERS = {
    "GAIA_MAX_STEPS": "max_steps",
    "GAIA_CONTEXT_SIZE": "context_size",
    "GAIA_MAX_TOKENS": "max_tokens",
}

_LONGEST = 18
"""Most characters of a number; it fits 64 bits."""

_OLD_NAMES = {"GAIA_BASE_URL": "GAIA_CPP_BASE_URL", "GAIA_CONTEXT_SIZE": "GAIA_CPP_CTX_SIZE"}


def environment_settings(
    environ: Mapping[str, str] = os.environ,
) -> tuple[dict[str, Any], list[str]]:
    """The settings the environment names, and a warning for each variable that is old or unreadable."""
    settings: dict[str, Any] = {}
    warnings: list[str] = []
    for name, field in _TEXTS.items():
        text = _look_up(environ, name, warnings)
        if text:
            settings[field] = text
    for name, field in _NUMBERS.items():
        text = _look_up(environ, name, warnings)
        if not text:
            continue
        if text.strip().isdecimal() and len(text) <= _LONGEST and int(text) > 0:
            settings[field] = int(text)
        else:
            warnings.append(f"{name}: expected a whole number above 0, got {text!r}; it is ignored")
    return settings, warnings


def with_environment(
    config: AgentConfig, environ: Mapping[str, str] = os.environ
) -> tuple[AgentConfig, list[str]]:
    """The configuration with what the environment names in its place, and the warnings."""
    settings, warnings = environment_settings(environ)
    return msgspec.structs.replace(config, **settings), warnings


def _look_up(environ: Mapping[str, str], name: str, warnings: list[str]) -> str:
    text = environ.get(name, "")
    old = _OLD_NAMES.get(name, "")
    if not text and environ.get(old):
        warnings.append(f"{old} is the old name of {name}; rename it")
        return environ[old]
    return text
