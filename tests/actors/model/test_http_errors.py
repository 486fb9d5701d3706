"""How failures of HTTP read, and what a Retry-After asks for."""

from __future__ import annotations

import httpx
import pytest

from actors.errors import ModelError, ModelTimeout, ModelUnavailable
from actors.model.http_errors import clipped, parse_retry_after, unreachable
from actors.model.sender import HttpRequest

REQUEST = HttpRequest(
    "POST",
    "http://u:pass@h/v1?key=pass",
    {"authorization": "Bearer hush-hush"},
    connect_s=3.0,
    read_s=9.0,
)


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (httpx.ConnectTimeout(""), ModelTimeout, "no connection within 3.0 s"),
        (httpx.PoolTimeout(""), ModelTimeout, "no connection within 3.0 s"),
        (httpx.ReadTimeout(""), ModelTimeout, "sent nothing for 9.0 s"),
        (httpx.WriteTimeout(""), ModelTimeout, "sent nothing for 9.0 s"),
        (httpx.ConnectError("no route"), ModelUnavailable, "cannot connect (no route)"),
        (httpx.ReadError(""), ModelUnavailable, "the connection broke"),
        (httpx.RemoteProtocolError("x hush-hush"), ModelUnavailable, "(x ***)"),
        (httpx.UnsupportedProtocol("no"), ModelUnavailable, "cannot be sent (no)"),
        (httpx.DecodingError("bad"), ModelUnavailable, "the connection broke"),
    ],
)
def test_each_failure_has_its_class_and_words(
    error: Exception, kind: type[ModelError], text: str
) -> None:
    told = unreachable(error, REQUEST)
    assert type(told) is kind
    assert text in str(told)
    assert str(told).startswith("POST http://h/v1: ")


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        (" 0 ", 0.0),
        ("Thu, 01 Jan 1970 00:01:40 GMT", 60.0),
        ("Thu, 01 Jan 1970 00:00:01 GMT", 0.0),
        ("", None),
        ("-3", None),
        ("1.5", None),
        ("soon", None),
        ("Thu, 99 Foo 1970 00:00:01 GMT", None),
        ("٣", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str, seconds: float | None) -> None:
    assert parse_retry_after({"retry-after": value}, now=40.0) == seconds


def test_no_retry_after_asks_for_nothing() -> None:
    assert parse_retry_after({}, now=0.0) is None


def test_a_clipped_body_has_whole_characters_and_single_blanks() -> None:
    assert clipped("éé".encode(), 3) == "é..."
    assert clipped(b" a\n\n b ") == "a b"
