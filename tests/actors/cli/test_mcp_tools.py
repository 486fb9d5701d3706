"""`greenroom mcp tools`, with real servers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from actors.cli.main import main
from tests.actors.cli.mcp_files import command, entry, written


def test_a_tool_is_shown_with_all_an_agent_makes_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mcp", "tools", "peer", *written(tmp_path, peer=entry("peer"))]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith(
        "echo: does echo\n"
        "    parameters   text* (string)\n"
        "    annotations  readOnlyHint=true\n"
        "    gate         allow\n"
        "    exposed as   mcp_peer_echo\n"
        "sleep: does sleep\n"
        "    parameters   n* (number)\n"
        "    annotations  readOnlyHint=false\n"
        "    gate         ask\n"
        "    exposed as   mcp_peer_sleep\n"
    )
    assert captured.err == ""


def test_json_is_the_server_s_own_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "tools", "--json", "--command", command("odd_tools")]) == 0
    tools = json.loads(capsys.readouterr().out)
    assert [each.get("name") for each in tools[:5]] == [
        "a.b",
        "a_b",
        "a/b",
        "with space",
        "\u00fcber\u2764",
    ]
    assert {"description": "no name"} in tools
    assert {"name": "text", "inputSchema": "not a schema"} in tools


def test_what_would_be_left_out_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "tools", "--command", command("odd_tools")]) == 0
    lines = capsys.readouterr().out.splitlines()
    after = lines[lines.index("text") + 1]
    assert after.startswith("    left out     tool 'text'")
    assert "\u00fcber\u2764" in lines


def test_all_pages_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "tools", "--command", command("pages")]) == 0
    assert capsys.readouterr().out.count("exposed as") == 10_000


def test_a_server_that_exits_at_once_ends_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "tools", "--command", command("exits_at_once")]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "exited with status 1" in captured.err
    assert "no configuration found" in captured.err
    assert captured.err.count("\n") == 1


def test_a_silent_server_ends_with_1_after_its_time(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--command", command("never_initializes"), "--timeout", "0.5"]
    assert main(["mcp", "tools", *given]) == 1
    assert "was not ready within 0.5 s" in capsys.readouterr().err


def test_a_server_that_never_lists_ends_with_1_after_its_time(
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = ["--command", command("never_answers_calls"), "--timeout", "2"]
    assert main(["mcp", "tools", *given]) == 1
    assert "within 2 s" in capsys.readouterr().err


def test_a_command_that_is_not_there_ends_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "tools", "--command", "no-such-program-here"]) == 1
    assert "the command 'no-such-program-here' is not found" in capsys.readouterr().err


def test_nobody_at_the_address_ends_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "tools", "--url", "http://127.0.0.1:9/mcp", "--timeout", "10"]) == 1
    assert "cannot connect to http://127.0.0.1:9/mcp" in capsys.readouterr().err


def test_noise_of_the_server_is_not_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "tools", "--json", "--command", command("banner")]) == 0
    json.loads(capsys.readouterr().out)
