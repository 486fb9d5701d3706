"""What goes out before a body, and where it goes."""

from __future__ import annotations

import httpx
import pytest

from actors.model.request_head import RequestHead, request_head


def head(url: str, *headers: tuple[str, str], method: str = "POST") -> RequestHead:
    return request_head(method, url, headers)


def test_a_request_is_its_line_its_headers_and_its_body() -> None:
    made = head("http://h:8000/v1/chat?a=%20b#part", ("Content-Type", "x"), ("user-agent", "me"))
    assert made.with_body(b"{}") == (
        b"POST /v1/chat?a=%20b HTTP/1.1\r\nhost: h:8000\r\ncontent-type: x\r\nuser-agent: me\r\n"
        b"content-length: 2\r\n\r\n{}"
    )


def test_a_body_is_json_unless_it_is_said_to_be_something_else() -> None:
    assert head("http://h/").headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("http://h/v1", "http://h"),
        ("https://h:443/v1", "https://h"),
        ("https://h:8443", "https://h:8443"),
        ("http://[::1]:1/v1", "http://[::1]:1"),
        ("http://me:secret@h/v1", "http://h"),
        ("http://bücher.example/", "http://xn--bcher-kva.example"),
    ],
)
def test_the_address_says_where_to_connect(url: str, origin: str) -> None:
    assert head(url).origin == origin


def test_the_host_header_has_brackets_and_no_default_port() -> None:
    assert head("http://[::1]:80/").headers["host"] == "[::1]"


def test_a_get_without_a_body_has_no_length_and_a_post_has_one() -> None:
    assert b"length" not in head("http://h/", method="GET").with_body(b"")
    assert b"content-length: 0\r\n" in head("http://h/").with_body(b"")


def test_user_and_password_go_as_basic_authentication() -> None:
    made = head("http://me:p%40ss@h/", ("Authorization", "Bearer key"))
    assert made.headers["authorization"] == "Basic bWU6cEBzcw=="
    assert b"p%40ss" not in made.wire


@pytest.mark.parametrize("header", [("a b", "1"), ("a", "1\r\nx: 2"), ("a", "\0"), ("a", "日本")])
def test_a_header_that_would_break_the_request_is_refused(header: tuple[str, str]) -> None:
    with pytest.raises(httpx.LocalProtocolError, match="has characters that none may have"):
        head("http://h/", header)
