"""`greenroom chat` as a process: at a real terminal, and from a pipe."""

from __future__ import annotations

from actors.testing.model_server import ScriptedModelServer
from actors.testing.replies import Failure, answer
from tests.actors.cli.program import at_terminal, run_command


def where(server: ScriptedModelServer) -> list[str]:
    return ["--base-url", server.base_url, "--model", "m"]


def test_a_person_talks_cancels_and_leaves() -> None:
    with (
        ScriptedModelServer([answer("hello"), Failure("silent"), answer("again")]) as server,
        at_terminal(["chat", *where(server)]) as chat,
    ):
        chat.wait_for("> ")
        chat.type("hi\n")
        chat.wait_for("hello")
        chat.wait_for("> ")
        chat.type("think for ever\n")
        server.wait_until(lambda seen: len(seen.chats) == 2)
        chat.press_ctrl_c()
        chat.wait_for("> ")
        chat.type("still there?\n")
        chat.wait_for("again")
        chat.wait_for("> ")
        chat.press_ctrl_c_until("/exit or Ctrl-D leaves")
        chat.wait_for("> ")
        chat.type("\x04")
        assert chat.ended() == 0
        server.assert_finished()


def test_the_arrow_key_brings_the_last_line_back() -> None:
    with (
        ScriptedModelServer([answer("one"), answer("two")]) as server,
        at_terminal(["chat", *where(server)]) as chat,
    ):
        chat.wait_for("> ")
        chat.type("what is it?\n")
        chat.wait_for("one")
        chat.wait_for("> ")
        chat.type("\x1b[A\n")
        chat.wait_for("two")
        chat.wait_for("> ")
        chat.type("/exit\n")
        assert chat.ended() == 0
        assert server.chats[1].json["messages"][-1]["content"] == "what is it?"


def test_a_long_wait_is_shown() -> None:
    with (
        ScriptedModelServer([Failure("silent")]) as server,
        at_terminal(["chat", *where(server)]) as chat,
    ):
        chat.wait_for("> ")
        chat.type("think\n")
        chat.wait_for("Thinking ... 1 s")
        chat.press_ctrl_c()
        chat.wait_for("> ")
        chat.type("exit\n")
        assert chat.ended() == 0


def test_lines_of_a_pipe_are_answered_without_a_prompt() -> None:
    with ScriptedModelServer([answer("one"), answer("two")]) as server:
        done = run_command(["chat", *where(server)], stdin="first\n/model\nsecond\n")
        server.assert_finished()
    assert done.returncode == 0, done.stderr
    assert "> " not in done.stdout
    assert "model: m" in done.stdout
    assert done.stdout.index("one") < done.stdout.index("two")
    assert [message["content"] for message in server.chats[1].json["messages"][1:]] == [
        "first",
        "one",
        "second",
    ]


def test_with_json_events_the_chat_itself_speaks_on_standard_error() -> None:
    with ScriptedModelServer([answer("one")]) as server:
        done = run_command(["chat", *where(server), "--json-events"], stdin="first\n/model\n")
    assert done.returncode == 0, done.stderr
    assert all(line.startswith("{") for line in done.stdout.splitlines())
    assert "model: m" in done.stderr
