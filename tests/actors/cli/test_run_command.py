"""`greenroom run` against a real server that answers by a script."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from actors.cli.main import main
from actors.testing.model_server import ScriptedModelServer, unused_port
from actors.testing.replies import (
    Failure,
    JsonReply,
    Reply,
    SSEReply,
    answer,
    answer_chunks,
)
from tests.actors.cli.program import COMMAND, at_terminal, environment, run_command


def says(**envelope: object) -> JsonReply:
    """A reply in the prompt protocol's envelope."""
    return answer(msgspec.json.encode(envelope).decode())


ADD = says(thought="a sum", goal="add", tool="add", tool_args={"a": 12.5, "b": 30})
DONE = says(thought="done", answer="It is 42.5.")


def asked(script: Sequence[Reply], *options: str, question: str = "What is 12.5 plus 30?") -> int:
    with ScriptedModelServer(script) as server:
        where = ("--base-url", server.base_url, "--model", "plain-model")
        code = main(["run", question, *where, *options])
        server.assert_finished()
    return code


def test_a_question_is_answered_with_a_tool(capsys: pytest.CaptureFixture[str]) -> None:
    assert asked([ADD, DONE]) == 0
    said = capsys.readouterr().out
    places = [said.index(text) for text in ("Question: What", "Tool: add", "42.5", "It is 42.5.")]
    assert places == sorted(places)


def test_quiet_prints_the_answer_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert asked([ADD, DONE], "--quiet") == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("It is 42.5.\n", "")


def test_json_events_are_all_that_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert asked([ADD, DONE], "--json-events") == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    kinds = [event["type"] for event in events]
    assert [kind for kind in kinds if kind.startswith("tool")] == [
        "tool_start",
        "tool_args",
        "tool_end",
        "tool_result",
    ]
    assert events[-2]["content"] == "It is 42.5."
    assert events[-1] == {"type": "status", "status": "complete", "steps": 2, "total": 20}


def test_a_streamed_reply_is_shown_while_it_comes(capsys: pytest.CaptureFixture[str]) -> None:
    reply = SSEReply(answer_chunks("It is ", "42.5."))
    assert asked([reply], "--stream") == 0
    assert "It is 42.5.\n" in capsys.readouterr().out


def test_a_streamed_answer_is_quiet_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert asked([SSEReply(answer_chunks("It is ", "42.5."))], "--stream", "--quiet") == 0
    assert capsys.readouterr().out == "It is 42.5.\n"


def test_no_answer_within_the_limit_ends_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert asked([ADD], "--max-steps", "1") == 1
    assert "Warning:" in capsys.readouterr().out


def test_a_quiet_failure_says_why_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert asked([ADD], "--max-steps", "1", "--quiet") == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("greenroom: ")


def test_a_server_that_fails_ends_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert asked([JsonReply({}, status=500), JsonReply({}, status=500)]) == 1
    assert "500" in capsys.readouterr().out


def test_nobody_at_the_address_ends_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    where = f"http://127.0.0.1:{unused_port()}/v1"
    assert main(["run", "why?", "--base-url", where, "--model", "m"]) == 1
    captured = capsys.readouterr()
    assert "Error: " in captured.out
    assert "greenroom doctor" in captured.err


def test_the_question_can_come_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("  What is it?\n"))
    with ScriptedModelServer([DONE]) as server:
        assert main(["run", "-", "--base-url", server.base_url, "--model", "m"]) == 0
        assert server.chats[0].json["messages"][-1]["content"] == "What is it?"


def test_bytes_that_are_no_utf_8_are_replaced() -> None:
    with ScriptedModelServer([DONE]) as server:
        assert main(["run", "caf\udce9?", "--base-url", server.base_url, "--model", "m"]) == 0
        assert server.chats[0].json["messages"][-1]["content"] == "caf\ufffd?"


def test_the_options_reach_the_request() -> None:
    with ScriptedModelServer([DONE]) as server:
        where = ["--base-url", server.base_url, "--model", "special"]
        assert main(["run", "why?", *where, "--system", "You are brief."]) == 0
        body = server.chats[0].json
    assert body["model"] == "special"
    assert body["messages"][0]["content"].startswith("You are brief.")
    assert "add(a: number, b: number)" in body["messages"][0]["content"]


GUARDED = '''
from actors.tools.decorator import tool
from actors.tools.policy import ToolPolicy

@tool(policy=ToolPolicy.CONFIRM)
def launch() -> str:
    """Launch it."""
    return "launched"
'''


@pytest.mark.parametrize(("option", "ran"), [((), False), (("--yes",), True)], ids=["no", "yes"])
def test_a_tool_that_needs_approval_runs_with_yes_only(
    option: tuple[str, ...], ran: bool, tmp_path: Path
) -> None:
    (tmp_path / "guarded_tools.py").write_text(GUARDED, encoding="utf-8")
    with ScriptedModelServer([says(tool="launch", tool_args={}), DONE]) as server:
        where = ["--base-url", server.base_url, "--model", "m"]
        done = run_command(
            ["run", "go", *where, "--tools", "guarded_tools:launch", *option], cwd=tmp_path
        )
    assert done.returncode == 0, done.stderr
    assert ('"launched"' in done.stdout) is ran


def test_a_person_at_the_terminal_is_asked(tmp_path: Path) -> None:
    (tmp_path / "guarded_tools.py").write_text(GUARDED, encoding="utf-8")
    tools = ["--tools", "guarded_tools:launch"]
    with ScriptedModelServer([says(tool="launch", tool_args={}), DONE]) as server:
        where = ["--base-url", server.base_url, "--model", "m"]
        with at_terminal(["run", "go", *where, *tools], cwd=tmp_path) as program:
            program.wait_for("wants to run the tool launch")
            program.wait_for("deny: ")
            program.type("1\n")
            program.wait_for('"launched"')
            program.wait_for("It is 42.5.")
            program.wait_for("done after 2 of 20 steps")
            assert program.ended() == 0


def test_a_missing_local_model_ends_with_3(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GREENROOM_CACHE_DIR", str(tmp_path))
    assert main(["run", "why?", "--provider", "local"]) == 3
    assert "greenroom model pull" in capsys.readouterr().err


def started(server: ScriptedModelServer, stdout: int) -> subprocess.Popen[str]:
    where = ["--base-url", server.base_url, "--model", "m"]
    return subprocess.Popen(
        [*COMMAND, "run", "why?", *where],
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=environment(),
    )


def test_ctrl_c_cancels_the_turn_and_ends_with_130() -> None:
    with ScriptedModelServer([Failure("silent")]) as server:
        process = started(server, subprocess.PIPE)
        server.wait_until(lambda seen: bool(seen.chats))
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "cancel" in out.lower()
    assert err == ""


def test_a_reader_who_leaves_makes_no_noise() -> None:
    reading, writing = os.pipe()
    with ScriptedModelServer([DONE]) as server:
        process = started(server, writing)
        os.close(writing)
        os.close(reading)
        _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (0, "")
