"""Settings from the environment."""

from __future__ import annotations

import pytest

from actors.config import AgentConfig
from actors.config_env import environment_settings, with_environment


def test_each_variable_replaces_its_setting() -> None:
    environ = {
        "GAIA_BASE_URL": "http://host/api/v1",
        "GAIA_MODEL_ID": "m",
        "GAIA_MAX_STEPS": "7",
        "GAIA_CONTEXT_SIZE": " 2048 ",
        "GAIA_MAX_TOKENS": "99",
    }
    config, warnings = with_environment(AgentConfig(model="other", max_steps=3), environ)
    assert (config.base_url, config.model, config.max_steps) == ("http://host/api/v1", "m", 7)
    assert (config.context_size, config.max_tokens, warnings) == (2048, 99, [])


@pytest.mark.parametrize("text", ["0", "-1", "many", "1.5", "9" * 5000, "\N{SUPERSCRIPT TWO}"])
def test_an_unreadable_number_is_ignored_and_told(text: str) -> None:
    settings, warnings = environment_settings({"GAIA_MAX_STEPS": text})
    assert settings == {}
    assert "GAIA_MAX_STEPS" in warnings[0]


def test_an_old_name_counts_and_is_told() -> None:
    settings, warnings = environment_settings({"GAIA_CPP_CTX_SIZE": "512"})
    assert settings == {"context_size": 512}
    assert "GAIA_CONTEXT_SIZE" in warnings[0]


def test_the_new_name_wins_over_the_old_one() -> None:
    environ = {"GAIA_BASE_URL": "http://new", "GAIA_CPP_BASE_URL": "http://old"}
    assert environment_settings(environ) == ({"base_url": "http://new"}, [])


def test_an_empty_environment_changes_nothing() -> None:
    config = AgentConfig()
    assert with_environment(config, {}) == (config, [])
