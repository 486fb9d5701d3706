"""Questions at a real pseudo terminal."""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

import pytest

from actors.tools.approval import Approval
from actors.tools.terminal_approver import (
    SHOWN_ARGUMENTS,
    TerminalApprover,
    question,
    read_answer,
)
from tests.actors.agent.on_loop import on_loop
from tests.actors.output.terminal_pair import TerminalPair, terminal_pair


class Seat:
    """A person at a terminal: sees the question, types on the same one."""

    def __init__(self, pair: TerminalPair, stdin: TextIO) -> None:
        self._pair = pair
        self.stdin = stdin
        self.approver = TerminalApprover(stdin, pair.stream)

    async def see(self, text: str) -> None:
        await asyncio.to_thread(self._pair.until, text)

    def type(self, text: str) -> None:
        os.write(self._pair.master, text.encode())


@contextmanager
def seat() -> Iterator[Seat]:
    with (
        terminal_pair() as pair,
        os.fdopen(os.dup(pair.stream.fileno()), encoding="utf-8") as stdin,
    ):
        yield Seat(pair, stdin)


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("1\n", Approval.ALLOW_ONCE),
        ("O\n", Approval.ALLOW_ONCE),
        (" a \n", Approval.ALWAYS_ALLOW),
        ("2\n", Approval.ALWAYS_ALLOW),
        ("\n", Approval.DENY),
        ("yes\n", Approval.DENY),
        ("\x04", Approval.DENY),  # Ctrl-D
    ],
)
@on_loop
async def test_a_person_sees_tool_and_arguments_and_answers(typed: str, answer: Approval) -> None:
    with seat() as person:
        asking = asyncio.create_task(person.approver.approve("delete_file", {"path": "/x"}))
        await person.see("deny: ")
        await person.see("delete_file")
        await person.see('"path": "/x"')
        person.type(typed)
        assert await asking is answer


@on_loop
async def test_a_cancelled_question_leaves_the_next_line_to_the_next_one() -> None:
    with seat() as person:
        given_up = asyncio.create_task(person.approver.approve("first", {}))
        await person.see("first")
        given_up.cancel()
        with pytest.raises(asyncio.CancelledError):
            await given_up
        asking = asyncio.create_task(person.approver.approve("second", {}))
        await person.see("second")
        person.type("2\n")
        assert await asking is Approval.ALWAYS_ALLOW


@on_loop
async def test_questions_at_the_same_time_are_put_one_after_another() -> None:
    with seat() as person:
        both = asyncio.gather(
            person.approver.approve("first", {}), person.approver.approve("second", {})
        )
        await person.see("first")
        person.type("1\n")
        await person.see("second")
        person.type("no\n")
        assert tuple(await both) == (Approval.ALLOW_ONCE, Approval.DENY)


@on_loop
async def test_a_question_given_up_while_it_waits_its_turn_is_never_put() -> None:
    with seat() as person:
        first = asyncio.create_task(person.approver.approve("first", {}))
        await person.see("first")
        waiting = asyncio.create_task(person.approver.approve("second", {}))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        person.type("1\n")
        assert await first is Approval.ALLOW_ONCE
        third = asyncio.create_task(person.approver.approve("third", {}))
        await person.see("third")
        person.type("1\n")
        assert await third is Approval.ALLOW_ONCE
        assert "second" not in person._pair.seen


@pytest.mark.parametrize(
    ("text", "answer"),
    [("o\n", Approval.ALLOW_ONCE), ("", Approval.DENY), ("1", Approval.ALLOW_ONCE)],
)
@on_loop
async def test_streams_without_a_terminal_are_read_too(text: str, answer: Approval) -> None:
    shown = io.StringIO()
    approver = TerminalApprover(io.StringIO(text), shown)
    assert await approver.approve("demo", {"n": 1}) is answer
    assert '"n": 1' in shown.getvalue()


def test_long_arguments_are_cut_and_the_rest_is_counted() -> None:
    text = question("demo", {"text": "x" * 5000})
    assert len(text) < SHOWN_ARGUMENTS + 300
    assert "characters more)" in text


@pytest.mark.parametrize("sneaky", ["\x1b[2J", "\x9b2J", "\u202egnp", "\u2028", "\ud800", "\r"])
def test_nothing_in_a_call_can_change_what_the_terminal_shows(sneaky: str) -> None:
    text = question(f"tool{sneaky}", {"path": sneaky})
    assert all(each.isprintable() or each == "\n" for each in text)


@pytest.mark.parametrize("args", [None, [], {"ä": "ö"}, {"odd": object()}])
def test_any_arguments_can_be_shown(args: Any) -> None:
    assert "demo" in question("demo", args)


def test_letters_of_either_case_are_a_yes_and_all_else_is_no() -> None:
    yes = {typed for typed in map(chr, range(128)) if read_answer(typed) is not Approval.DENY}
    assert yes == {"1", "2", "a", "A", "o", "O"}
