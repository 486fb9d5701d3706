"""The chat's rules, line by line, with a stand-in for the agent."""

from __future__ import annotations

import io
import os
import signal
from collections.abc import Iterable

import pytest

from actors.cli.chat import Chat, ChatCommand
from actors.cli.line_reader import PipedLines
from actors.errors import ModelUnavailable
from actors.output.console import Console
from tests.actors.cli.stand_in import StandIn


class Lines:
    """Gives lines; an exception among them is raised."""

    def __init__(self, lines: Iterable[str | BaseException]) -> None:
        self._lines = iter(lines)

    def read(self, prompt: str) -> str | None:
        """The next one."""
        line = next(self._lines, None)
        if isinstance(line, BaseException):
            raise line
        return line


def chatted(
    *lines: str | BaseException, agent: StandIn | None = None, commands: Iterable[ChatCommand] = ()
) -> tuple[StandIn, list[str]]:
    said = io.StringIO()
    agent = agent or StandIn()
    Chat(agent, Lines(lines), Console(said), model="small", commands=commands).run()
    return agent, said.getvalue().splitlines()


def test_what_is_no_command_is_asked() -> None:
    agent, said = chatted("  what is it?  ", "", "   ", "and that?")
    assert agent.questions == ["what is it?", "and that?"]
    assert said == []


@pytest.mark.parametrize("leaving", ["exit", "quit", " exit ", "/exit", "/exit now"])
def test_these_words_leave(leaving: str) -> None:
    agent, _ = chatted("one", leaving, "two")
    assert agent.questions == ["one"]


def test_the_end_of_the_input_leaves() -> None:
    agent = StandIn()
    reader = PipedLines(io.StringIO("one\r\ntwo"))
    Chat(agent, reader, Console(io.StringIO()), model="small").run()
    assert agent.questions == ["one", "two"]


def test_an_unknown_command_gets_a_hint_and_is_not_asked() -> None:
    agent, said = chatted("/nothing at all")
    assert agent.questions == []
    assert said == ["unknown command '/nothing'; /help lists them"]


def test_help_lists_every_command_in_order() -> None:
    _, said = chatted("/help")
    assert [line.split()[0] for line in said] == ["/clear", "/exit", "/help", "/history", "/model"]


def test_a_command_gets_its_arguments_trimmed() -> None:
    got: list[str] = []
    command = ChatCommand("/note", "keep a note", lambda chat, rest: got.append(rest))
    _, said = chatted("/note   two words  ", "/note", "/help", commands=[command])
    assert got == ["two words", ""]
    assert any(line.startswith("/note") and "keep a note" in line for line in said)


def test_a_command_of_the_same_name_replaces_the_built_in_one() -> None:
    command = ChatCommand("/clear", "wipe", lambda chat, rest: chat.say("wiped"))
    agent, said = chatted("one", "/clear", commands=[command])
    assert said == ["wiped"]
    assert agent.history()


def test_model_shows_and_changes_the_model() -> None:
    agent, said = chatted("/model", "/model  larger ", "/model")
    assert agent.models == ["larger"]
    assert said == ["model: small", "model: larger", "model: larger"]


def test_history_shows_a_line_per_message_and_clear_forgets() -> None:
    _, said = chatted("/history", "what?", "/history", "/clear", "/history")
    assert said[0] == "nothing was said yet"
    assert said[1:3] == ["user: what?", "assistant: calls add"]
    assert said[3].startswith("assistant: word word")
    assert said[3].endswith("...")
    assert len(said[3]) == len("assistant: ") + 100
    assert said[4:] == ["the agent has forgotten what was said", "nothing was said yet"]


def test_ctrl_c_at_the_prompt_goes_on() -> None:
    agent, said = chatted(KeyboardInterrupt(), "one")
    assert said == ["(/exit or Ctrl-D leaves)"]
    assert agent.questions == ["one"]


def test_ctrl_c_in_a_turn_cancels_it_and_goes_on() -> None:
    agent = StandIn(lambda text: os.kill(os.getpid(), signal.SIGINT) if "wait" in text else None)
    chatted("please wait", "one", agent=agent)
    assert agent.cancelled.is_set()
    assert agent.questions == ["please wait", "one"]


def test_an_error_of_one_turn_does_not_end_the_chat() -> None:
    def refuse(text: str) -> None:
        if text == "one":
            raise ModelUnavailable("nobody there")

    agent, said = chatted("one", "two", agent=StandIn(refuse))
    assert said == ["error: nobody there"]
    assert agent.questions == ["one", "two"]


def test_a_reader_who_left_ends_the_chat() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    agent = StandIn()
    with io.TextIOWrapper(io.FileIO(writing, "w"), encoding="utf-8", write_through=True) as stream:
        Chat(agent, Lines(["/help", "one"]), Console(stream), model="small").run()
    assert agent.questions == []
