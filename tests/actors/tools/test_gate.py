"""Which tools of MCP servers are asked about."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.tools.gate import VERBS, name_words, requires_confirmation

READ_ONLY = {"readOnlyHint": True}


@pytest.mark.parametrize(
    "name",
    ["read_file", "query", "get_address", "runtime_info", "list_movies", "READFile", "web-search"],
)
def test_a_read_only_tool_with_a_harmless_name_passes(name: str) -> None:
    assert not requires_confirmation(name, READ_ONLY)


@pytest.mark.parametrize(
    "annotations",
    [
        None,
        "readOnly",
        ["readOnlyHint"],
        {},
        {"readOnlyHint": False},
        {"readOnlyHint": "true"},
        {"readOnlyHint": 1},
        {"readOnlyHint": None},
        {"readonlyhint": True},
    ],
)
def test_only_a_hint_that_is_true_counts(annotations: Any) -> None:
    assert requires_confirmation("read_file", annotations)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "名前",
        "___",
        "writeFile",
        "WRITEFile",
        "write2file",
        "delete-branch",
        "Write File",
        "bash",
    ],
)
def test_a_name_that_changes_something_or_says_nothing_is_asked_about(name: str) -> None:
    assert requires_confirmation(name, READ_ONLY)


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("deletes_branch", True),  # begins with a verb of four letters or more
        ("get_typed_value", True),  # known to be too careful
        ("address_book", False),  # `add` has three letters and counts whole only
        ("setting", False),
        ("runs", False),
        ("set", True),
    ],
)
def test_long_verbs_count_as_beginnings_and_short_ones_as_whole_words(
    name: str, asked: bool
) -> None:
    assert requires_confirmation(name, READ_ONLY) is asked


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("WRITEFile_2", {"writefile", "write", "file", "2"}),
        ("getHTTPPage", {"gethttppage", "get", "http", "page"}),
        ("a1B", {"a1b", "a", "1", "b"}),
        ("name-mit.Punkt", {"name", "mit", "punkt"}),
        ("éa", {"a"}),
        ("", set()),
    ],
)
def test_a_name_is_read_as_its_segments_and_their_parts(name: str, words: set[str]) -> None:
    assert name_words(name) == words


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_is_seen_however_it_is_joined(verb: str) -> None:
    for name in (f"get_{verb}_x", f"get{verb.title()}X", f"{verb.upper()}Thing", f"x2{verb}"):
        assert requires_confirmation(name, READ_ONLY), name


@given(st.text(), st.none() | st.booleans() | st.dictionaries(st.text(), st.booleans()))
def test_nothing_passes_without_the_hint(name: str, annotations: Any) -> None:
    if not isinstance(annotations, dict) or annotations.get("readOnlyHint") is not True:
        assert requires_confirmation(name, annotations)


@given(st.text())
def test_words_are_made_of_the_names_own_letters(name: str) -> None:
    assert all(
        word in name.lower() and word.isalnum() and word.isascii() for word in name_words(name)
    )
