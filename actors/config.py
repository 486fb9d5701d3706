"""The settings of an agent: one frozen value for both seeds, with one name for each setting.

Names are the field's own in snake_case. On input the seeds' names are accepted as well (`actors.config_names`).
Making a value does not judge it; `validate` does, by the rules of `actors.config_rules`, and whoever starts
an agent or changes its settings calls it (gaia 16).

Defaults that depend on the provider are filled in when the value is made: address and model. Two come from
the environment, as the seed has it: LEMONADE_BASE_URL for Lemonade's address, GAIA_STREAMING=1 for streaming.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec
from msgspec import Struct, field

from actors.config_names import GAIA_FIELDS, by_canonical_name, gaia_name, setting_error
from actors.config_rules import Problem, problems, unknown_choices
from actors.errors import ConfigError, InvalidArgument

Provider = Literal["lemonade", "openai", "ollama", "local"]
ResponseMode = Literal["planning", "conversational"]
NativePolicy = Literal["auto", "always", "never"]
ToolChoice = Literal["auto", "required"]

BY_PROVIDER = "(by provider)"
"""What stands for a default that depends on the provider; replaced when the value is made."""

TEMPERATURE_BY_PROVIDER = -1.0
"""The same for the temperature."""

_DEFAULTS: dict[str, tuple[str, str]] = {
    "lemonade": ("http://localhost:13305/api/v1", "Qwen3-4B-GGUF"),
    "openai": ("https://api.openai.com/v1", "gpt-4o-mini"),
    "ollama": ("http://127.0.0.1:11434", "llama3"),
    "local": ("local", "qwen2.5-coder-0.5b-instruct"),
}

_CHOICES: dict[str, tuple[str, ...]] = {
    "provider": get_args(Provider),
    "response_mode": get_args(ResponseMode),
    "native_tool_calls": get_args(NativePolicy),
    "tool_choice": get_args(ToolChoice),
}


def _streaming_by_environment() -> bool:
    return os.environ.get("GAIA_STREAMING") == "1"


class AgentConfig(Struct, frozen=True, kw_only=True):
    """Settings of one agent. Numbers named `_ms` are milliseconds, `_s` seconds.

    How the model is reached:

    * `provider` (`lemonade`): `lemonade`, `openai` (any compatible server), `ollama`, `local` (a model
      of the catalogue on this machine); `base_url` and `model` default by it. `api_key` is sent as a
      bearer token and shown nowhere. `offline` promises that only local models are meant.
    * `connect_timeout_s` (30), `request_timeout_s` (120: a silence of the server; gaia's page),
      `calls_at_once` (0: no bound): requests to one server at a time over all agents of a system.
    * `context_size` (16384 tokens, when a model is loaded), `max_tokens` (4096), `temperature` (0.7; 0 for `local`:
      small models call tools reliably only so).

    How a turn runs:

    * `max_steps` (20), `max_plan_iterations` (3), `max_consecutive_repeats` (4, at least 2),
      `max_history_messages` (40; 0 keeps all), `turn_timeout_s` (None: no deadline).
    * `response_mode` (`planning`), `native_tool_calls` (`auto`: by a table of models), `tool_choice`
      (`auto`), `streaming` (False), `structured_events` (False: no thoughts shown while streaming).
    * `debug`, `show_prompts`, `silent_mode`: what is shown. `skill_set`, `skill_manifest`: gaia 15.

    How a workspace run is bounded (vix 2): `timeout_ms`, `max_files`, `max_file_size` (bytes),
    `max_tool_output` and `max_context_chars` (characters), `tool_timeout_ms`, `max_tool_rounds`,
    `cache_ttl_ms`, `allowed_programs`, the four directories, and the permissions.
    """

    provider: Provider = "lemonade"
    model: str = BY_PROVIDER
    base_url: str = BY_PROVIDER
    api_key: str = ""
    offline: bool = True
    connect_timeout_s: float = 30.0
    request_timeout_s: float = 120.0
    calls_at_once: int = 0
    context_size: int = 16384
    max_tokens: int = 4096
    temperature: float = TEMPERATURE_BY_PROVIDER

    max_steps: int = 20
    max_plan_iterations: int = 3
    max_consecutive_repeats: int = 4
    max_history_messages: int = 40
    turn_timeout_s: float | None = None
    response_mode: ResponseMode = "planning"
    native_tool_calls: NativePolicy = "auto"
    tool_choice: ToolChoice = "auto"
    streaming: bool = field(default_factory=_streaming_by_environment)
    structured_events: bool = False
    debug: bool = False
    show_prompts: bool = False
    silent_mode: bool = False
    skill_set: str = ""
    skill_manifest: str = ""

    memory_dir: str = ".vix/agent/memory"
    cache_dir: str = ".vix/agent/cache"
    runs_dir: str = ".vix/agent/runs"
    logs_dir: str = ".vix/agent/logs"
    timeout_ms: int = 30000
    max_files: int = 2000
    max_file_size: int = 524288
    max_tool_output: int = 20000
    max_context_chars: int = 120000
    tool_timeout_ms: int = 30000
    max_tool_rounds: int = 3
    cache_ttl_ms: int = 300000
    allowed_programs: tuple[str, ...] = ("vix", "cmake", "ninja", "git", "ls", "cat", "echo")
    allow_process: bool = False
    allow_file_read: bool = True
    allow_file_write: bool = False
    use_cache: bool = True
    persist_memory: bool = True

    def __post_init__(self) -> None:
        """Fill in the defaults that depend on the provider."""
        base_url, model = _DEFAULTS.get(self.provider, (BY_PROVIDER, BY_PROVIDER))
        if self.provider == "lemonade":
            base_url = os.environ.get("LEMONADE_BASE_URL") or base_url
        if self.base_url == BY_PROVIDER:
            msgspec.structs.force_setattr(self, "base_url", base_url)
        if self.model == BY_PROVIDER:
            msgspec.structs.force_setattr(self, "model", model)
        if self.temperature == TEMPERATURE_BY_PROVIDER:
            usual = 0.0 if self.provider == "local" else 0.7
            msgspec.structs.force_setattr(self, "temperature", usual)

    def __repr__(self) -> str:
        """The settings that differ from the defaults, without the key."""
        plain = AgentConfig(provider=self.provider)
        shown = (
            f"{name}={getattr(self, name)!r}"
            for name in self.__struct_fields__
            if name == "provider"
            or (name != "api_key" and getattr(self, name) != getattr(plain, name))
        )
        return f"AgentConfig({', '.join(shown)})"

    def validate(self) -> None:
        """Raises ConfigError naming the first setting that cannot be, by its name and the seeds'."""
        values = msgspec.structs.asdict(self)
        _require_none(problems(values, _CHOICES))
        _typed(values)

    def changed(self, changes: Mapping[str, Any]) -> AgentConfig:
        """These settings with some others in their place, checked as a whole.

        Another provider takes its own address and model with it, unless the changes name them.

        Raises ConfigError naming a setting that cannot be, or that there is none of.
        """
        unknown = changes.keys() - set(self.__struct_fields__)
        if unknown:
            raise ConfigError(min(unknown), "there is no such setting")
        values = {**msgspec.structs.asdict(self), **changes}
        if values["provider"] != self.provider:
            for name in ("base_url", "model"):
                values[name] = changes.get(name, BY_PROVIDER)
        config = _typed(values)
        config.validate()
        return config

    # -- in and out -------------------------------------------------------------------------------

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> AgentConfig:
        """Settings from plain values; missing ones keep their defaults, unknown ones are ignored.

        The result is validated. Raises ConfigError naming the setting.
        """
        config = _typed(by_canonical_name(values, cls.__struct_fields__))
        config.validate()
        return config

    @classmethod
    def from_json(cls, text: str | bytes) -> AgentConfig:
        """Settings from the text of a JSON object.

        Raises InvalidArgument: it is no JSON object; ConfigError: as `from_dict`.
        """
        return cls.from_dict(_json_object(text, "configuration"))

    @classmethod
    def from_json_file(cls, path: str | Path) -> AgentConfig:
        """Settings from a file that holds a JSON object.

        Raises InvalidArgument, naming the file: it cannot be read or is no JSON object; ConfigError: as
        `from_dict`.
        """
        what = f"configuration file {str(path)!r}"
        try:
            text = Path(path).read_bytes()
        except OSError as error:
            raise InvalidArgument(f"{what} cannot be read: {error.strerror}") from error
        return cls.from_dict(_json_object(text, what))

    def to_dict(self) -> dict[str, Any]:
        """All settings by their names here, without the key. `from_dict` reads it back."""
        return {
            name: value for name, value in msgspec.structs.asdict(self).items() if name != "api_key"
        }

    def to_gaia_json(self) -> dict[str, Any]:
        """The settings the first seed knows, by its names (gaia 16)."""
        return {gaia_name(name): getattr(self, name) for name in GAIA_FIELDS}


def _require_none(found: Iterator[Problem]) -> None:
    """Raises ConfigError for the first problem."""
    for name, what in found:
        raise setting_error(name, what)


def _typed(values: Mapping[str, Any]) -> AgentConfig:
    """Settings of the right types; not judged further. Raises ConfigError."""
    _require_none(unknown_choices(values, _CHOICES))
    try:
        return msgspec.convert(values, AgentConfig)
    except msgspec.ValidationError as error:
        raise _unreadable(error, values) from None  # the cause might show the key


def _unreadable(error: msgspec.ValidationError, values: Mapping[str, Any]) -> ConfigError:
    """Name the setting a conversion failed at; never the value of the key."""
    found = re.search(r"\$\.(\w+)", str(error))
    name = found.group(1) if found else "?"
    problem = str(error).partition(" - at")[0]
    got = "" if name == "api_key" else f", got {values.get(name)!r:.200}"
    return setting_error(name, f"{problem[:1].lower()}{problem[1:]}{got}")


def _json_object(text: str | bytes, what: str) -> dict[str, Any]:
    try:
        values = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise InvalidArgument(
            f"{what}: expected a JSON object, got text that is none ({error})"
        ) from error
    if not isinstance(values, dict):
        raise InvalidArgument(f"{what}: expected a JSON object, got {type(values).__name__}")
    return values
