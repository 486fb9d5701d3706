"""`greenroom mcp call`, with real servers."""

from __future__ import annotations

import io
import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from actors.cli.main import main
from tests.actors.cli.mcp_files import command, entry, written
from tests.actors.cli.program import at_terminal, run_command
from tests.actors.mcp.sessions import SERVERS

PEER = ("--command", command("peer"))


def test_text_is_printed_as_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = written(tmp_path, peer=entry("peer"))
    text = "caf\u00e9 \u2764\nand a line"
    assert main(["mcp", "call", "peer", "echo", json.dumps({"text": text}), *options]) == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == (f"{text}\n", "")


def test_arguments_can_come_from_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO('{"text": "piped"}\n'))
    assert main(["mcp", "call", "echo", "-", *PEER]) == 0
    assert capsys.readouterr().out == "piped\n"


def test_no_arguments_are_an_empty_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "call", "structured", *PEER]) == 0
    assert json.loads(capsys.readouterr().out) == {"answer": 42}


def test_json_is_the_result_as_it_came(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "call", "--json", *PEER, "structured"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result == {"structuredContent": {"answer": 42}, "content": []}


@pytest.mark.parametrize(("option", "printed"), [((), ""), (("--json",), '"isError": true')])
def test_a_failed_tool_ends_with_1_and_says_why_on_standard_error(
    option: Sequence[str], printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mcp", "call", "fail", *PEER, *option]) == 1
    captured = capsys.readouterr()
    assert captured.err == "it failed\n"
    assert printed in captured.out
    assert bool(captured.out) is bool(printed)


def test_a_modern_server_is_called_too(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["echo", '{"text": "hi"}', "--command", command("modern")]
    assert main(["mcp", "call", *given]) == 0
    assert capsys.readouterr().out == "hi\n"


def test_text_among_other_blocks_is_printed_as_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "picture.py"
    program.write_text(
        f"import sys\nsys.path[0] = {str(SERVERS.parent)!r}\n"
        "from servers.peer import Peer\n"
        "class Picture(Peer):\n"
        "    def tool_pid(self, arguments, meta):\n"
        "        image = {'type': 'image', 'data': 'AAAA', 'mimeType': 'image/png'}\n"
        "        return {'content': [{'type': 'text', 'text': 'a picture:'}, image]}\n"
        "Picture().run()\n",
        encoding="utf-8",
    )
    server = shlex.join([sys.executable, "-S", "-E", str(program)])
    assert main(["mcp", "call", "pid", "--command", server]) == 0
    first, rest = capsys.readouterr().out.split("\n", 1)
    assert first == "a picture:"
    assert json.loads(rest) == {"type": "image", "mimeType": "image/png", "bytes": 3}


def test_a_huge_result_is_printed_whole() -> None:
    done = run_command(["mcp", "call", "big", '{"n": 5000000}', *PEER])
    assert done.returncode == 0, done.stderr
    assert len(done.stdout) == 5_000_001


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("echo", "{x"), "the arguments are no JSON"),
        (("echo", ""), "the arguments are no JSON"),
        (("echo", "[1]"), "must be a JSON object, got '[1]'"),
        (("echo", "[" * 100_000), "the arguments are no JSON"),
        (("ech", "{}"), "lists no tool 'ech'; it lists echo, sleep"),
        (("echo", "{}", "more"), "expects TOOL [JSON], got 3 words"),
    ],
    ids=["broken", "empty", "array", "deep", "unknown tool", "too many"],
)
def test_wrong_words_end_with_2(
    words: Sequence[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mcp", "call", *words, *PEER]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert complaint in captured.err
    assert captured.err.count("\n") == 1


def test_an_id_needs_a_tool(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "call", "peer"]) == 2
    assert "expects ID TOOL [JSON], got 1 words" in capsys.readouterr().err


def test_an_unknown_id_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = written(tmp_path, peer=entry("peer"))
    assert main(["mcp", "call", "nobody", "echo", *options]) == 2
    assert "'nobody' is not configured" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("server", "tool", "complaint"),
    [
        ("peer", "die", "exited with status 3; it said last: I die"),
        ("half_a_line", "pid", "exited with status 1"),
        ("modern", "ask", "wants input for tools/call that nobody here gives"),
    ],
)
def test_a_server_that_gives_no_result_ends_with_1(
    server: str, tool: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mcp", "call", tool, "--command", command(server)]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("greenroom: error: server ")
    assert complaint in captured.err


def test_a_call_that_takes_too_long_ends_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "call", "sleep", '{"n": 60}', *PEER, "--timeout", "3"]) == 1
    assert "did not answer tools/call within 3 s" in capsys.readouterr().err


def test_progress_is_shown_at_a_terminal() -> None:
    with at_terminal(["mcp", "call", "progress", '{"n": 4}', *PEER]) as program:
        program.wait_for("progress: 2 of 4 on")
        program.wait_for("done")
        assert program.ended() == 0


def test_progress_is_not_shown_elsewhere() -> None:
    done = run_command(["mcp", "call", "progress", '{"n": 2}', *PEER])
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
