"""The command with standard streams that are closed, full, or used by a tool as well."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from actors.testing.model_server import ScriptedModelServer
from actors.testing.replies import answer
from tests.actors.cli.program import COMMAND, environment

NOISY = '''
import subprocess, sys

def shout(text: str) -> str:
    """Make a text loud."""
    print("printed by the tool")
    subprocess.run([sys.executable, "-c", "print('printed by its process')"], check=True)
    return text.upper()

def close() -> str:
    """Close standard output."""
    sys.stdout.close()
    return "closed"
'''


def in_shell(
    arguments: Sequence[str], redirections: str, *, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command as a shell does with these redirections."""
    return subprocess.run(
        ["/bin/sh", "-c", f'exec "$@" {redirections}', "sh", *COMMAND, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
        env=environment(),
        cwd=cwd,
        check=False,
    )


def at(server: ScriptedModelServer) -> list[str]:
    return ["--base-url", server.base_url, "--model", "m"]


@pytest.mark.parametrize("redirections", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_question_is_answered_with_a_standard_stream_closed(redirections: str) -> None:
    with ScriptedModelServer([answer("forty-two")]) as server:
        done = in_shell(["run", "--quiet", "why?", *at(server)], redirections)
        server.assert_finished()
    said = "" if ">&- " in f"{redirections} ".replace("2>&-", "") else "forty-two\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, said, "")


def test_without_standard_input_there_is_nothing_to_chat_about() -> None:
    done = in_shell(["chat", "--model", "m", "--base-url", "http://127.0.0.1:9/v1"], "<&-")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_without_standard_input_a_question_from_there_is_empty() -> None:
    done = in_shell(["run", "-"], "<&-")
    assert done.returncode == 2
    assert "the question is empty" in done.stderr


def test_a_reason_nobody_can_read_is_in_the_exit_code_all_the_same() -> None:
    assert in_shell(["run", ""], "2>/dev/full").returncode == 2


@pytest.mark.parametrize("how", ["--quiet", "--json-events", "--yes"])
def test_a_full_disk_is_told_in_a_line(how: str) -> None:
    with ScriptedModelServer([answer("forty-two")] * 2) as server:
        done = in_shell(["run", "why?", how, *at(server)], ">/dev/full")
    assert done.returncode == 1
    assert "greenroom: error: [Errno 28] No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("how", ["--quiet", "--json-events"])
def test_what_a_tool_prints_does_not_come_between_what_a_program_reads(
    how: str, tmp_path: Path
) -> None:
    (tmp_path / "noisy.py").write_text(NOISY, encoding="utf-8")
    call = answer('{"tool": "shout", "tool_args": {"text": "hm"}}')
    with ScriptedModelServer([call, answer("done")]) as server:
        options = ["--tools", "noisy:shout", *at(server)]
        done = in_shell(["run", "shout", how, *options], "", cwd=tmp_path)
        server.assert_finished()
    assert done.returncode == 0
    assert "printed by the tool" in done.stderr
    assert "printed by its process" in done.stderr
    if how == "--quiet":
        assert done.stdout == "done\n"
    else:
        assert all("type" in json.loads(line) for line in done.stdout.splitlines())


def test_a_tool_that_closes_standard_output_brings_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "noisy.py").write_text(NOISY, encoding="utf-8")
    call = answer('{"tool": "close", "tool_args": {}}')
    with ScriptedModelServer([call, answer("done")]) as server:
        options = ["--tools", "noisy:close", *at(server)]
        done = in_shell(["run", "close it", *options], "", cwd=tmp_path)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
