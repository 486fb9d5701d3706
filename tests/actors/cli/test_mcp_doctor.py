"""`greenroom mcp doctor`, with real servers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from actors.cli.main import main
from tests.actors.cli.mcp_files import command, entry, written


def test_a_server_that_works_is_told_with_what_it_speaks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = written(tmp_path, new=entry("modern"), old=entry("peer"))
    assert main(["mcp", "doctor", *options]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines[:4]] == ["ok      new"] * 2 + ["ok      old"] * 2
    assert re.search(r"ready after \d+ ms, speaks 2026-07-28 \(modern\), is modern 1, 16", lines[1])
    assert re.search(r"ready after \d+ ms, speaks 2025-11-25 \(legacy\), is Peer 1, 13", lines[3])
    assert lines[-1] == "no problem found"


def test_every_failure_is_told_in_the_order_of_ids_and_ends_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = written(
        tmp_path,
        a_silent=entry("never_initializes"),
        b_exits=entry("exits_at_once"),
        c_missing={"command": "no-such-program-here"},
        d_broken={"command": 5},
        e_off={"command": "x", "disabled": True},
        f_future=entry("modern_only_other"),
        g_good=entry("peer"),
    )
    assert main(["mcp", "doctor", "--timeout", "3", *options]) == 1
    said = capsys.readouterr().out
    in_order = [
        "server 'a_silent' was not ready within 3 s",
        "server 'b_exits' exited with status 1",
        "'no-such-program-here' is not found",
        "d_broken: command must be a string",
        "note    e_off: disabled",
        "server 'f_future' speaks the revisions 2031-01-01",
        "g_good: ready after",
        "5 problem(s) found",
    ]
    places = [said.index(text) for text in in_order]
    assert places == sorted(places)


def test_only_the_named_ones_are_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = written(tmp_path, good=entry("peer"), bad=entry("exits_at_once"))
    assert main(["mcp", "doctor", "good", *options]) == 0
    assert "bad" not in capsys.readouterr().out


def test_tools_that_would_be_left_out_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "doctor", "--command", command("odd_tools")]) == 0
    said = capsys.readouterr().out
    assert "15 tool(s), 5 of them left out" in said
    assert "a tool is left out: tool 'text'" in said


def test_a_server_without_tools_works(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "none.py"
    servers = Path(__file__).parents[1] / "mcp"
    program.write_text(
        f"import sys\nsys.path[0] = {str(servers)!r}\n"
        "from servers.peer import Peer\nclass Bare(Peer):\n    on_tools_list = None\nBare().run()\n",
        encoding="utf-8",
    )
    options = written(tmp_path, none={**entry("peer"), "args": ["-S", "-E", str(program)]})
    assert main(["mcp", "doctor", *options]) == 0
    assert "0 tool(s)" in capsys.readouterr().out


def test_an_unknown_id_ends_with_2_before_anything_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = written(tmp_path, good=entry("peer"))
    assert main(["mcp", "doctor", "good", "nobody", *options]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "'nobody' is not configured" in captured.err


def test_ids_and_a_command_do_not_go_together(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "doctor", "x", "--command", "y"]) == 2
    assert "not both" in capsys.readouterr().err
