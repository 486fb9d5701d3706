"""What the options make of the command line and the environment."""

from __future__ import annotations

import argparse
import io

import pytest

from actors.cli.approving import AlwaysApprove
from actors.cli.options import add_agent_options, approver_from, config_from, handler_from, key_for
from actors.output.handler import OutputHandler
from actors.output.json_lines import JsonLinesHandler
from actors.output.silent import SilentHandler
from actors.output.terminal import TerminalHandler


def parsed(*options: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_agent_options(parser)
    return parser.parse_args(options)


def test_without_options_the_defaults_hold() -> None:
    config = config_from(parsed())
    assert (config.provider, config.max_steps, config.debug) == ("lemonade", 20, False)


def test_bytes_that_are_no_text_are_replaced_in_names() -> None:
    config = config_from(parsed("--model", "m\udcff", "--base-url", "http://there/\udcff"))
    assert (config.model, config.base_url) == ("m\ufffd", "http://there/\ufffd")


def test_an_address_alone_means_an_openai_compatible_server() -> None:
    config = config_from(parsed("--base-url", "http://there/v1", "--model", "m"))
    assert (config.provider, config.base_url, config.model) == ("openai", "http://there/v1", "m")


def test_a_named_provider_stays() -> None:
    config = config_from(parsed("--provider", "lemonade", "--base-url", "http://there"))
    assert config.provider == "lemonade"


@pytest.mark.parametrize("option", ["--json-events", "--quiet"])
def test_a_streamed_turn_has_an_answer_event_for_programs(option: str) -> None:
    config = config_from(parsed("--stream", option))
    assert config.streaming
    assert config.structured_events


def test_debug_shows_prompts() -> None:
    assert config_from(parsed("--debug")).show_prompts


@pytest.mark.parametrize(
    ("address", "environ", "key"),
    [
        ("http://there/v1", {"GREENROOM_API_KEY": "g", "OPENAI_API_KEY": "o"}, "g"),
        ("http://there/v1", {"OPENAI_API_KEY": "o"}, ""),
        ("https://api.openai.com/v1", {"OPENAI_API_KEY": "o"}, "o"),
        ("https://api.openai.com/v1", {}, ""),
    ],
)
def test_a_key_goes_where_it_belongs(address: str, environ: dict[str, str], key: str) -> None:
    assert key_for(address, environ) == key


@pytest.mark.parametrize(
    ("options", "kind"),
    [((), TerminalHandler), (("--quiet",), SilentHandler), (("--json-events",), JsonLinesHandler)],
)
def test_the_handler_is_chosen_once(options: tuple[str, ...], kind: type[OutputHandler]) -> None:
    assert type(handler_from(parsed(*options))) is kind


def test_nobody_is_asked_where_nobody_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    handler = SilentHandler()
    assert approver_from(parsed(), handler) is None
    assert isinstance(approver_from(parsed("--yes"), handler), AlwaysApprove)
