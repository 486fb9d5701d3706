"""Placeholders for environment variables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.errors import MCPRegistryError
from actors.mcp.placeholders import expand

ENVIRON = {"A": "1", "_b2": "2", "EMPTY": "", "AGAIN": "${A}$${A}", "UMLAUT": "ü"}


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("", ""),
        ("plain", "plain"),
        ("${A}", "1"),
        ("${env:A}", "1"),
        ("<${A}${_b2}>${env:UMLAUT}", "<12>ü"),
        ("[${EMPTY}]", "[]"),
        ("${AGAIN}", "${A}$${A}"),
        ("$A $ {A} {A} $$ $", "$A $ {A} {A} $$ $"),
        ("$${A}", "${A}"),
        ("$${", "${"),
        ("$$${A}", "$${A}"),
        ("${A}}", "1}"),
        ("cost: 5$", "cost: 5$"),
    ],
)
def test_placeholders_become_values_and_the_rest_stays(text: str, expanded: str) -> None:
    assert expand(text, ENVIRON) == expanded


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("${GONE}", "needs the environment variable 'GONE', which is not set"),
        ("${A}${env:GONE}", "'GONE'"),
        ("${a}", "'a'"),
        ("${", "without its '}'"),
        ("${A", "without its '}'"),
        ("${}", "neither"),
        ("${env:}", "'${env...}'"),
        ("${input:token}", "'${input...}'"),
        ("${A:-other}", "'${A...}'"),
        ("${env:A:-other}", "neither"),
        ("${1A}", "neither"),
        ("${ A }", "neither"),
        ("${${A}}", "neither"),
    ],
)
def test_what_cannot_be_replaced_is_refused(text: str, message: str) -> None:
    with pytest.raises(MCPRegistryError) as caught:
        expand(text, ENVIRON)
    assert message in str(caught.value)


@given(st.text())
def test_any_text_can_be_written_literally(text: str) -> None:
    assert expand(text.replace("${", "$${"), {}) == text


@given(st.text(alphabet="${}Aenv:"), st.text())
def test_a_text_is_expanded_or_refused_and_nothing_else(text: str, value: str) -> None:
    try:
        expand(text, {"A": value})
    except MCPRegistryError:
        assert "${" in text
