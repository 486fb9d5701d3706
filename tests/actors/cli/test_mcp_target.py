"""Which server a command line means, and what it is called."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import pytest

from actors.cli.main import main
from actors.cli.mcp_target import (
    McpTarget,
    add_server_options,
    add_target_options,
    name_of,
    servers_of,
    target_of,
)
from actors.errors import InvalidArgument, MCPRegistryError
from actors.mcp.config import HttpServer, McpServerConfig, StdioServer
from tests.actors.cli.mcp_files import written


def target(*options: str, server_id: str | None = None) -> McpTarget:
    parser = argparse.ArgumentParser()
    add_target_options(parser)
    return target_of(parser.parse_args(options), server_id)


def servers(*options: str) -> dict[str, McpServerConfig]:
    parser = argparse.ArgumentParser()
    add_server_options(parser)
    return servers_of(parser.parse_args(options))


def test_a_command_is_split_into_words_and_no_shell_sees_it() -> None:
    found = target("--command", "/usr/lib/my-server 'two words' $HOME; rm")
    assert found.name == "my-server"
    assert found.config.server == StdioServer("/usr/lib/my-server", ("two words", "$HOME;", "rm"))


def test_an_address_is_called_as_its_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THE_TOKEN", "abc")
    found = target("--url", "http://mcp.example:80/mcp?t=${THE_TOKEN}")
    assert found.name == "mcp_example"
    assert found.config.server == HttpServer("http://mcp.example:80/mcp?t=abc")


def test_an_id_is_looked_up(tmp_path: Path) -> None:
    found = target(*written(tmp_path, x={"command": "prog"}), server_id="x")
    assert found == McpTarget("x", McpServerConfig(StdioServer("prog")))


def test_a_timeout_is_that_of_the_start_and_of_a_call() -> None:
    limits = target("--command", "x", "--timeout", "2").config.timeouts
    assert (limits.handshake, limits.call, limits.probe) == (2.0, 2.0, 1.0)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ((), "got 0 of them"),
        (("--command", "x", "--url", "http://y"), "got 2 of them"),
        (("--command", "'x"), "no closing quotation"),
        (("--command", " "), "--command is empty"),
        (("--command", "''"), "--command is empty"),
        (("--url", "ftp://x"), "--url: url must begin with"),
        (("--url", ""), "--url: url must begin with"),
        (("--url", "http://x/${NO_SUCH_VARIABLE_HERE}"), "NO_SUCH_VARIABLE_HERE"),
    ],
)
def test_what_cannot_be_read_is_refused(options: Sequence[str], complaint: str) -> None:
    with pytest.raises(InvalidArgument, match=complaint):
        target(*options)


def test_an_unknown_id_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(MCPRegistryError, match=r"'y' is not configured .*available: x"):
        target(*written(tmp_path, x={"command": "prog"}), server_id="y")


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "soon"])
def test_a_timeout_is_a_number_above_0(seconds: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "tools", "x", "--timeout", seconds]) == 2
    assert "expected a number of seconds above 0" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("path", "taken", "name"),
    [
        ("/usr/bin/mcp-server-time", (), "mcp-server-time"),
        ("./my server.py", (), "my_server_py"),
        ("\u00fcber", (), "ber"),
        ("\u2764", (), "server"),
        ("x", ("x", "x-2"), "x-3"),
    ],
)
def test_a_name_is_made_of_the_program_s_file(path: str, taken: Sequence[str], name: str) -> None:
    assert name_of(path, taken) == name


def test_servers_of_an_agent_have_names_of_their_own(tmp_path: Path) -> None:
    _, file = written(tmp_path, npx={"command": "prog"}, other={"command": "prog"})
    found = servers(
        *("--mcp", "npx", "--mcp", "other", "--mcp-config", file),
        *("--mcp-command", "npx -y one", "--mcp-command", "npx -y two"),
    )
    assert [*found] == ["npx", "other", "npx-2", "npx-3"]
    assert found["npx-3"].server == StdioServer("npx", ("-y", "two"))


def test_without_options_no_file_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GAIA_CONFIG_DIR", str(tmp_path))
    assert servers() == {}


def test_a_file_without_an_id_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="--mcp-config goes with --mcp"):
        servers("--mcp-config", "x.json")
