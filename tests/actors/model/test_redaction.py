"""Secrets stay out of what people read."""

from __future__ import annotations

import pytest

from actors.errors import ConfigError
from actors.model.bearer import json_headers
from actors.model.redaction import redact, secrets_of, shown_url


def test_secrets_are_the_words_of_secret_headers_without_their_scheme() -> None:
    headers = {"Authorization": "Bearer k-1", "x-api-key": "k-2", "accept": "k-3", "Cookie": " "}
    assert secrets_of(headers) == ("k-1", "k-2")


def test_every_occurrence_is_replaced() -> None:
    assert redact("key-1 and key-1, key-2", ("key-1", "key-2")) == "*** and ***, ***"


def test_a_word_too_short_to_be_a_secret_stays() -> None:
    assert redact("an axe", ("a", "")) == "an axe"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://h:1/v1", "http://h:1/v1"),
        ("http://u:p@h/v1?key=1#x", "http://h/v1"),
        ("http://u:p@ss@h/", "http://h/"),
        ("http://h/a@b", "http://h/a@b"),
        ("", ""),
    ],
)
def test_an_address_is_shown_without_what_may_be_secret(url: str, shown: str) -> None:
    assert shown_url(url) == shown


def test_a_key_goes_as_bearer_token_without_the_blanks_around_it() -> None:
    assert json_headers(" sk-1\n")["authorization"] == "Bearer sk-1"


@pytest.mark.parametrize("key", ["", "  "])
def test_no_key_is_no_header(key: str) -> None:
    assert "authorization" not in json_headers(key)


@pytest.mark.parametrize("key", ["sk-é-hush", "sk hush", "sk\nhush"])
def test_a_key_that_no_header_can_carry_is_refused_without_telling_it(key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        json_headers(key)
    assert caught.value.field == "api_key"
    assert "hush" not in str(caught.value)
