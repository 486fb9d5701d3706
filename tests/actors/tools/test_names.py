"""Names that are not registered exactly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.tools.names import resolve_name


@pytest.mark.parametrize(
    ("wanted", "registered", "meant"),
    [
        ("Shell", ["mcp_win_Shell"], "mcp_win_Shell"),
        ("shell", ["mcp_win_Shell"], "mcp_win_Shell"),
        ("MCP_WIN_SHELL", ["mcp_win_Shell"], "mcp_win_Shell"),
        ("file", ["read_file"], "read_file"),
        ("READ_FILE", ["read_file", "mcp_fs_read_file"], "mcp_fs_read_file"),
        ("SHELL", ["shell", "mcp_a_shell", "mcp_b_shell"], "shell"),
    ],
)
def test_the_only_name_that_can_be_meant_is_found(
    wanted: str, registered: list[str], meant: str
) -> None:
    assert resolve_name(wanted, registered) == meant


@pytest.mark.parametrize(
    ("wanted", "registered"),
    [
        ("Shell", ["mcp_a_Shell", "mcp_b_Shell"]),
        ("Echo", ["echo", "ECHO"]),
        ("nope", ["a_b"]),
        ("ell", ["shell"]),
        ("anything", []),
    ],
)
def test_nothing_is_guessed_between_several_names_or_none(
    wanted: str, registered: list[str]
) -> None:
    assert resolve_name(wanted, registered) is None


@given(st.text(), st.sets(st.text()))
def test_what_is_found_is_registered_and_ends_as_it_was_written(
    wanted: str, registered: set[str]
) -> None:
    meant = resolve_name(wanted, registered)
    if meant is not None:
        assert meant in registered
        assert meant.lower().endswith(wanted.lower())
