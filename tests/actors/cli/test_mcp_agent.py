"""`greenroom run` and `greenroom chat` with MCP servers, against a model server that answers by a script."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from actors.cli.main import main
from actors.testing.model_server import ScriptedModelServer
from actors.testing.replies import JsonReply, Reply, answer
from tests.actors.cli.mcp_files import command, entry, written
from tests.actors.cli.program import at_terminal, run_command


def says(**envelope: object) -> JsonReply:
    """A reply in the prompt protocol's envelope."""
    return answer(msgspec.json.encode(envelope).decode())


def calls(tool: str, **arguments: object) -> JsonReply:
    """A reply that calls a tool."""
    return says(thought="a tool", goal="call it", tool=tool, tool_args=arguments)


DONE = says(thought="done", answer="It is done.")


def files(directory: Path, **servers: object) -> tuple[str, str]:
    """The option of `run` that names a file with these servers."""
    return "--mcp-config", written(directory, **servers)[1]


def asked(script: Sequence[Reply], *options: str) -> tuple[int, list[str]]:
    """The exit code, and the system prompt and last message of each request."""
    with ScriptedModelServer(script) as server:
        code = main(["run", "why?", "--base-url", server.base_url, "--model", "m", *options])
        server.assert_finished()
        requests = [chat.json["messages"] for chat in server.chats]
    return code, [f"{messages[0]['content']}\n{messages[-1]['content']}" for messages in requests]


def test_the_tools_of_a_named_server_are_the_agent_s(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = [calls("mcp_peer_echo", text="gr\u00fcn \u2764"), DONE]
    options = files(tmp_path, peer=entry("peer"))
    code, requests = asked(script, "--mcp", "peer", *options, "--quiet")
    assert code == 0
    assert "mcp_peer_echo(text: string)" in requests[0]
    assert "gr\u00fcn \u2764" in requests[1]
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("It is done.\n", "")


def test_they_take_the_place_of_the_demonstration_tools() -> None:
    code, requests = asked([DONE], "--mcp-command", command("peer"))
    assert code == 0
    assert "word_count" not in requests[0]


def test_named_tools_are_there_too() -> None:
    more = ["--tools", "actors.cli.demo_tools:word_count"]
    code, requests = asked([DONE], "--mcp-command", command("peer"), *more)
    assert code == 0
    assert "word_count" in requests[0]
    assert "_echo(" in requests[0]


def test_two_programs_of_the_same_name_are_two_servers(tmp_path: Path) -> None:
    for number, name in enumerate(("one", "two")):
        program = tmp_path / name / "server"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\nexec {command('changes')}\n# {number}\n", encoding="utf-8")
        program.chmod(0o755)
    given = [("--mcp-command", str(tmp_path / name / "server")) for name in ("one", "two")]
    code, requests = asked([DONE], *given[0], *given[1])
    assert code == 0
    assert "mcp_server_pid(" in requests[0]
    assert "mcp_server-2_pid(" in requests[0]


def test_a_dead_server_comes_back_within_the_run() -> None:
    with_name = Path(command("peer").split()[0]).name.replace(".", "_")
    script = [
        calls(f"mcp_{with_name}_die"),
        calls(f"mcp_{with_name}_echo", text="alive again"),
        DONE,
    ]
    code, requests = asked(script, "--mcp-command", command("peer"), "--yes")
    assert code == 0
    assert "exited with status 3" in requests[1]
    assert "alive again" in requests[2]


@pytest.mark.parametrize(("option", "ran"), [((), False), (("--yes",), True)], ids=["no", "yes"])
def test_a_tool_that_is_not_proven_read_only_needs_approval(
    option: Sequence[str], ran: bool, tmp_path: Path
) -> None:
    options = files(tmp_path, peer=entry("peer"))
    with ScriptedModelServer([calls("mcp_peer_cwd"), DONE]) as server:
        where = ["--base-url", server.base_url, "--model", "m", "--json-events"]
        done = run_command(["run", "go", *where, "--mcp", "peer", *options, *option], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    (result,) = [each for each in events if each["type"] == "tool_result"]
    assert result["success"] is ran
    assert (str(tmp_path) in json.dumps(result)) is ran


def test_a_person_at_the_terminal_is_asked(tmp_path: Path) -> None:
    options = files(tmp_path, peer=entry("peer"))
    with ScriptedModelServer([calls("mcp_peer_cwd"), DONE]) as server:
        where = ["--base-url", server.base_url, "--model", "m"]
        with at_terminal(["run", "go", *where, "--mcp", "peer", *options]) as program:
            program.wait_for("wants to run the tool mcp_peer_cwd")
            program.wait_for("deny: ")
            program.type("1\n")
            program.wait_for("It is done.")
            program.wait_for("done after 2 of 20 steps")
            assert program.ended() == 0


@pytest.mark.parametrize(
    ("server", "complaint"),
    [
        ({"command": "no-such-program-here"}, "'no-such-program-here' is not found"),
        (entry("exits_at_once"), "it said last: no configuration found"),
        (
            entry("never_initializes", greenroom={"handshake_timeout_s": 1}),
            "was not ready within 1 s",
        ),
    ],
    ids=["missing", "exits", "silent"],
)
def test_a_server_that_cannot_be_reached_ends_a_run_with_2_before_the_model_is_asked(
    server: dict[str, object],
    complaint: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    options = files(tmp_path, good=entry("peer"), bad=server)
    code, requests = asked([], "--mcp", "good", "--mcp", "bad", *options, "--quiet")
    assert (code, requests) == (2, [])
    captured = capsys.readouterr()
    assert captured.out == ""
    last = captured.err.splitlines()[-1]
    assert last.startswith("greenroom: error: MCP server 'bad' cannot be used: ")
    assert complaint in last


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--mcp", "nobody"), "'nobody' is not configured"),
        (("--mcp", "off"), "is disabled"),
        (("--mcp-command", "'x"), "--mcp-command"),
    ],
)
def test_a_server_that_is_not_configured_ends_with_2(
    options: Sequence[str],
    complaint: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = files(tmp_path, off={"command": "x", "disabled": True})
    code, requests = asked([], *options, *(file if options[0] == "--mcp" else ()))
    assert (code, requests) == (2, [])
    assert complaint in capsys.readouterr().err


def test_a_chat_goes_on_without_a_server_that_cannot_be_reached(tmp_path: Path) -> None:
    options = files(tmp_path, bad=entry("exits_at_once"), good=entry("peer"))
    with ScriptedModelServer([calls("mcp_good_echo", text="here"), DONE]) as server:
        where = ["--base-url", server.base_url, "--model", "m"]
        given = ["--mcp", "bad", "--mcp", "good", *options, "--quiet"]
        done = run_command(["chat", *where, *given], stdin="go\n")
        last = server.chats[-1].json["messages"][-1]["content"]
    assert (done.returncode, done.stdout) == (0, "It is done.\n")
    assert "no configuration found" in done.stderr
    assert "here" in last


def test_a_program_that_prints_among_its_messages_is_not_on_standard_output() -> None:
    with ScriptedModelServer([DONE]) as server:
        where = ["--base-url", server.base_url, "--model", "m", "--json-events"]
        done = run_command(["run", "go", *where, "--mcp-command", command("banner")])
    assert done.returncode == 0, done.stderr
    assert all(json.loads(line)["type"] for line in done.stdout.splitlines())
