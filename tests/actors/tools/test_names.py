"""Names that are not registered exactly, and names of tools of MCP servers."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.tools.names import NAME_LIMIT, exposed_name, resolve_name


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


# -- tools of MCP servers ---------------------------------------------------------------------------


def test_a_name_that_model_servers_take_is_server_and_tool() -> None:
    assert exposed_name("files", "read-file_2") == "mcp_files_read-file_2"
    assert len(exposed_name("s", "x" * (NAME_LIMIT - 6))) == NAME_LIMIT


@pytest.mark.parametrize(
    ("server", "tool", "begins"),
    [
        ("files", "read.file", "mcp_files_read_file_"),
        ("my server", "get/x y", "mcp_my_server_get_x_y_"),
        ("s", "grüße", "mcp_s_gr__e_"),
        ("s", "x" * 59, "mcp_s_xxxx"),
    ],
)
def test_a_name_that_has_to_change_can_still_be_recognised(
    server: str, tool: str, begins: str
) -> None:
    assert exposed_name(server, tool).startswith(begins)
    assert exposed_name(server, tool) != begins


def test_the_name_of_a_tool_is_the_same_in_every_process() -> None:
    assert exposed_name("files", "read.file") == "mcp_files_read_file_97875296"


names = st.text(st.sampled_from("ab._/ ü-") | st.characters(), max_size=80)


@given(names, names)
def test_every_name_can_be_sent(server: str, tool: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", exposed_name(server, tool))


@given(names, names)
def test_tools_of_one_server_with_different_names_stay_different(one: str, other: str) -> None:
    assert (exposed_name("s", one) == exposed_name("s", other)) == (one == other)
