"""The settings of an agent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.config import AgentConfig
from actors.config_names import GAIA_FIELDS, gaia_name
from actors.errors import ConfigError, InvalidArgument

KEY = "sk-very-secret"


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LEMONADE_BASE_URL", "GAIA_STREAMING"):
        monkeypatch.delenv(name, raising=False)


# -- defaults ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", ["lemonade", "openai", "ollama", "local"])
def test_every_provider_has_an_address_and_a_model(provider: Any) -> None:
    AgentConfig(provider=provider).validate()


def test_lemonade_is_the_default() -> None:
    config = AgentConfig()
    expected = ("lemonade", "http://localhost:13305/api/v1", "Qwen3-4B-GGUF")
    assert (config.provider, config.base_url, config.model) == expected


def test_the_environment_gives_lemonades_address_and_streaming(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LEMONADE_BASE_URL", "http://host/api/v1")
    monkeypatch.setenv("GAIA_STREAMING", "1")
    assert AgentConfig().base_url == "http://host/api/v1"
    assert AgentConfig().streaming
    assert AgentConfig(provider="openai").base_url == "https://api.openai.com/v1"


def test_what_is_given_wins_over_every_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEMONADE_BASE_URL", "http://host/api/v1")
    config = AgentConfig(base_url="http://mine", model="m", streaming=False)
    assert (config.base_url, config.model, config.streaming) == ("http://mine", "m", False)


# -- validation -------------------------------------------------------------------------------------

BAD: list[tuple[str, Any]] = [
    *((name, "") for name in ("provider", "model", "base_url", "memory_dir", "cache_dir", "runs_dir")),
    *((name, 0) for name in ("max_steps", "max_tokens", "context_size", "max_plan_iterations")),
    *((name, 0) for name in ("timeout_ms", "max_files", "max_file_size", "max_tool_output")),
    *((name, 0) for name in ("max_context_chars", "tool_timeout_ms", "max_tool_rounds")),
    ("logs_dir", ""),
    ("model", "half a pair \ud800"),
    ("base_url", "http://half-a-pair/\udcff"),
    ("cache_ttl_ms", 0),
    ("max_consecutive_repeats", 1),
    ("max_history_messages", -1),
    ("calls_at_once", -1),
    ("temperature", -0.1),
    ("temperature", 2.1),
    ("temperature", float("nan")),
    ("temperature", "warm"),
    ("connect_timeout_s", 0),
    ("request_timeout_s", float("inf")),
    ("turn_timeout_s", 0),
    ("provider", "nobody"),
    ("response_mode", "chatty"),
    ("native_tool_calls", True),
    ("tool_choice", "none"),
    ("max_steps", True),
    ("max_steps", 2.5),
    ("max_files", "7"),
    ("timeout_ms", -1),
    ("debug", "yes"),
    ("skill_set", None),
    ("allowed_programs", "git"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), BAD)
def test_a_value_that_cannot_be_is_told_by_the_name_of_its_setting(name: str, value: Any) -> None:
    config = AgentConfig(**{name: value})
    with pytest.raises(ConfigError, match=name) as caught:
        config.validate()
    assert caught.value.field == name


@pytest.mark.parametrize(("name", "value"), BAD)
def test_the_same_value_is_refused_on_input(name: str, value: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        AgentConfig.from_dict({name: value})
    assert caught.value.field == name


def test_making_a_value_does_not_judge_it() -> None:
    assert AgentConfig(max_steps=-5).max_steps == -5


@pytest.mark.parametrize(
    "settings",
    [
        {"temperature": 0},
        {"temperature": 2},
        {"max_history_messages": 0},
        {"max_consecutive_repeats": 2},
        {"turn_timeout_s": 0.5},
        {"turn_timeout_s": None},
        {"use_cache": False, "cache_ttl_ms": 0},
        {"allow_process": False, "allowed_programs": ()},
        {"max_tokens": 10**18},
    ],
)
def test_values_at_the_edge_are_good(settings: dict[str, Any]) -> None:
    AgentConfig(**settings).validate()


def test_processes_need_a_program_that_is_allowed() -> None:
    with pytest.raises(ConfigError, match="allowed_programs"):
        AgentConfig(allow_process=True, allowed_programs=()).validate()


def test_the_first_problem_is_told_in_the_order_of_vix() -> None:
    values: dict[str, Any] = {"allow_process": True, "allowed_programs": (), "temperature": 9}
    with pytest.raises(ConfigError, match="allowed_programs"):
        AgentConfig(**values).validate()
    with pytest.raises(ConfigError, match="cache_ttl_ms"):
        AgentConfig(**values, cache_ttl_ms=0).validate()
    with pytest.raises(ConfigError, match="logs_dir"):
        AgentConfig(**values, timeout_ms=0, logs_dir="").validate()


def test_the_seeds_names_are_told_as_well() -> None:
    with pytest.raises(ConfigError, match=r"baseUrl, model_url"):
        AgentConfig(base_url="").validate()


def test_no_tool_choice_points_at_the_setting_that_is_meant() -> None:
    with pytest.raises(ConfigError, match="nativeToolCalls: never"):
        AgentConfig.from_dict({"toolChoice": "none"})


def test_a_long_value_is_not_told_whole() -> None:
    with pytest.raises(ConfigError) as caught:
        AgentConfig.from_dict({"provider": "x" * 10_000})
    assert len(str(caught.value)) < 500


# -- in and out -------------------------------------------------------------------------------------


def test_names_of_both_seeds_are_read() -> None:
    gaia = AgentConfig.from_dict({"modelId": "m", "baseUrl": "http://a", "maxSteps": 3})
    vix = AgentConfig.from_dict({"model": "m", "model_url": "http://a", "max_steps": 3})
    assert gaia == vix
    assert (gaia.model, gaia.base_url, gaia.max_steps) == ("m", "http://a", 3)


@pytest.mark.parametrize("names", [["model", "modelId"], ["modelId", "model"]])
def test_a_settings_own_name_wins_in_any_order(names: list[str]) -> None:
    assert AgentConfig.from_dict({name: name for name in names}).model == "model"


def test_unknown_names_are_ignored_and_missing_ones_keep_their_defaults() -> None:
    assert AgentConfig.from_dict({"colour": "green"}) == AgentConfig()


def test_every_setting_comes_back_from_plain_values() -> None:
    config = AgentConfig(provider="openai", allowed_programs=("ls",), turn_timeout_s=1.5)
    assert AgentConfig.from_dict(config.to_dict()) == config
    assert AgentConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


@given(
    st.integers(1, 2**62),
    st.floats(0, 2),
    st.text(min_size=1),
    st.sampled_from(["planning", "conversational"]),
)
def test_gaias_json_comes_back(steps: int, temperature: float, model: str, mode: Any) -> None:
    config = AgentConfig(
        max_steps=steps, temperature=temperature, model=model, response_mode=mode, streaming=True
    )
    written = json.dumps(config.to_gaia_json())
    assert AgentConfig.from_json(written) == config


def test_gaias_json_has_gaias_names_only() -> None:
    assert list(AgentConfig().to_gaia_json()) == [gaia_name(name) for name in GAIA_FIELDS]


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "agent.json"
    path.write_text('{"maxSteps": 3}', encoding="utf-8")
    assert AgentConfig.from_json_file(path) == AgentConfig(max_steps=3)


@pytest.mark.parametrize("text", ["", "[]", "{", "nonsense", "[" * 100_000])
def test_a_file_that_is_no_json_object_is_told_by_its_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "agent.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidArgument, match=r"agent\.json.*expected a JSON object"):
        AgentConfig.from_json_file(path)


def test_a_file_that_is_not_there_is_told_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"gone\.json.*cannot be read"):
        AgentConfig.from_json_file(tmp_path / "gone.json")


# -- changes and the key ----------------------------------------------------------------------------


def test_another_provider_takes_its_address_and_model_along() -> None:
    changed = AgentConfig(base_url="http://a", model="m").changed({"provider": "openai"})
    assert (changed.base_url, changed.model) == ("https://api.openai.com/v1", "gpt-4o-mini")


def test_a_change_that_names_address_or_model_keeps_it() -> None:
    changed = AgentConfig().changed({"provider": "openai", "model": "m"})
    assert (changed.base_url, changed.model) == ("https://api.openai.com/v1", "m")


@pytest.mark.parametrize("changes", [{"max_steps": 0}, {"maxSteps": 5}, {"api_key": 7}])
def test_a_change_that_cannot_be_is_told(changes: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(changes))):
        AgentConfig().changed(changes)


def test_the_key_is_shown_nowhere() -> None:
    config = AgentConfig(api_key=KEY, max_steps=0)
    with pytest.raises(ConfigError) as caught:
        config.validate()
    shown = [repr(config), str(config), str(config.to_dict()), str(config.to_gaia_json())]
    assert not [text for text in (*shown, str(caught.value)) if KEY in text]


def test_a_key_of_the_wrong_type_is_told_without_it() -> None:
    with pytest.raises(ConfigError, match="api_key") as caught:
        AgentConfig.from_dict({"api_key": [KEY]})
    assert KEY not in str(caught.value)


def test_what_differs_from_the_defaults_is_shown() -> None:
    assert repr(AgentConfig()) == "AgentConfig(provider='lemonade')"
    assert "max_steps=3" in repr(AgentConfig(max_steps=3))
