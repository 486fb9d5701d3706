"""`greenroom mcp list`: every server of the files with its state, and nothing is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.cli.main import main
from tests.actors.cli.mcp_files import written

TOUCHES = {"command": "touch", "args": ["started"]}


def listed(capsys: pytest.CaptureFixture[str], *options: str) -> list[str]:
    assert main(["mcp", "list", *options]) == 0
    return capsys.readouterr().out.splitlines()


def test_every_server_has_a_line_in_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = written(
        tmp_path,
        web={"type": "http", "url": "http://user:word@there.example/mcp?key=hidden"},
        touches=TOUCHES,
        off={"command": "x", "disabled": True},
        number={"command": 5},
        text="x",
        unset={"command": "x", "args": ["${NO_SUCH_VARIABLE_HERE}"]},
    )
    lines = listed(capsys, *options)
    assert [line.split()[0] for line in lines[:6]] == sorted(
        ["web", "touches", "off", "number", "text", "unset"]
    )
    states = {line.split()[0]: line.split(maxsplit=1)[1] for line in lines[:6]}
    assert states["web"] == "address  http://there.example/mcp"
    assert states["touches"] == "program  touch"
    assert states["off"] == "disabled"
    assert states["number"].startswith("unusable: command must be a string")
    assert "must be an object" in states["text"]
    assert "NO_SUCH_VARIABLE_HERE" in states["unset"]


def test_nothing_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    listed(capsys, *written(tmp_path, touches=TOUCHES))
    assert [path.name for path in tmp_path.iterdir()] == ["servers.json"]


def test_the_files_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GAIA_CONFIG_DIR", str(tmp_path))
    (tmp_path / "mcp.json").write_text('{"mcpServers": {}}', encoding="utf-8")
    assert listed(capsys) == [
        "no servers are configured",
        "",
        f"read: {tmp_path / 'mcp.json'}",
        f"not there: {tmp_path / 'mcp_servers.json'}",
    ]


def test_of_several_files_the_last_one_wins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    first = written(tmp_path, one={"command": "first"}, two={"command": "stays"})
    second = written(other, one={"command": "second"})
    lines = listed(capsys, *first, *second)
    assert lines[:2] == ["one  program  second", "two  program  stays"]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (None, "there is no file of MCP servers"),
        ("{", "is not valid JSON"),
        ("[]", "must be an object with the key 'mcpServers'"),
    ],
)
def test_a_file_that_cannot_be_read_ends_with_2(
    content: str | None, complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "servers.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    assert main(["mcp", "list", "--config", str(path)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("greenroom: error: ")
    assert complaint in captured.err
    assert captured.err.count("\n") == 1


def test_no_file_at_all_ends_with_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GAIA_CONFIG_DIR", str(tmp_path))
    assert main(["mcp", "list"]) == 2
    assert str(tmp_path / "mcp_servers.json") in capsys.readouterr().err
