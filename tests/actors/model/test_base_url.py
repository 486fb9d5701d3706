"""Where a Lemonade server is, from what people write."""

from __future__ import annotations

import pytest

from actors.model.base_url import DEFAULT_LEMONADE_URL, lemonade_url


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("http://h:8000", "http://h:8000/api/v1"),
        ("http://h:8000///", "http://h:8000/api/v1"),
        ("http://h:8000/api/v1", "http://h:8000/api/v1"),
        ("http://h:8000/v1/", "http://h:8000/v1"),
        ("http://h:8000/api", "http://h:8000/api/api/v1"),
        ("https://h/x/api/v1/", "https://h/x/api/v1"),
    ],
)
def test_an_address_ends_in_v1(written: str, meant: str) -> None:
    assert lemonade_url(written, {"LEMONADE_BASE_URL": "http://other"}) == meant


def test_the_environment_stands_in_for_no_address() -> None:
    assert lemonade_url("", {"LEMONADE_BASE_URL": "http://h/"}) == "http://h/api/v1"


@pytest.mark.parametrize("environ", [{}, {"LEMONADE_BASE_URL": ""}])
def test_the_default_stands_in_for_neither(environ: dict[str, str]) -> None:
    assert lemonade_url("", environ) == DEFAULT_LEMONADE_URL
