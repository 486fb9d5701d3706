"""Calls through links: one connection for all, which its supervisor brings back."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from actors.errors import McpConnectionLost, McpToolGone
from actors.mcp.config import McpServerConfig, RetrySent, StdioServer
from actors.mcp.connection import CallTool, ConnectionState, ReadState
from actors.mcp.link import McpLink
from runtime import ActorSystem
from tests.actors.mcp.members import (
    become,
    call,
    do,
    gone,
    leave,
    member,
    say,
    together,
)
from tests.actors.mcp.sessions import server_config, text_of

QUICK = {"shutdown": 0.3, "ping": 0.3}


@pytest.fixture
def system() -> Iterator[ActorSystem]:
    """A system of the test's own."""
    with ActorSystem() as system:
        yield system


def peer(**limits: float) -> McpServerConfig:
    """The good server."""
    return server_config("peer", **(QUICK | limits))


def test_all_who_name_an_equal_configuration_share_a_server(system: ActorSystem) -> None:
    first, second = member(system, peer()), member(system, peer())
    other = member(system, replace(peer(), roots=("file:///x",)))
    assert say(first, "pid") == say(second, "pid") != say(other, "pid")


def test_a_server_ends_with_its_last_member(system: ActorSystem) -> None:
    first, second = member(system, peer()), member(system, peer())
    pid = int(say(first, "pid"))
    say(second, "pid")
    do(first, leave)
    assert int(say(second, "pid")) == pid
    second.stop()
    become(lambda: gone(pid))


def test_a_member_that_comes_back_finds_another_server(system: ActorSystem) -> None:
    only = member(system, peer())
    pid = int(say(only, "pid"))
    do(only, leave)
    assert int(say(only, "pid")) != pid
    become(lambda: gone(pid))


def test_the_end_of_the_system_is_the_end_of_the_server() -> None:
    with ActorSystem() as system:
        pid = int(say(member(system, peer()), "pid"))
    assert gone(pid)


def test_a_killed_server_is_brought_back(system: ActorSystem) -> None:
    one = member(system, peer())
    pid = int(say(one, "pid"))
    os.kill(pid, signal.SIGKILL)
    become(lambda: gone(pid))
    assert int(say(one, "pid")) != pid


def test_calls_in_flight_are_made_once_more(system: ActorSystem) -> None:
    members = [member(system, peer()) for _ in range(10)]
    pid = int(say(members[0], "pid"))
    waiting = [
        each.ask(lambda link: link.call("sleep", {"n": 0.5}), block=False) for each in members
    ]
    say(members[1], "echo", text="x")
    os.kill(pid, signal.SIGKILL)
    assert [text_of(each.get(timeout=30)) for each in waiting] == ["slept"] * 10


@pytest.mark.parametrize(
    ("setting", "repeatable", "again"),
    [
        ("always", False, True),
        ("always", True, True),
        ("safe", False, False),
        ("safe", True, True),
        ("never", True, False),
    ],
)
def test_a_call_that_had_been_sent_is_made_again_by_the_setting(
    system: ActorSystem, tmp_path: Path, setting: RetrySent, repeatable: bool, again: bool
) -> None:
    config = server_config("dies_once", str(tmp_path / "memory"), **QUICK)
    one = member(system, replace(config, retry_sent=setting))

    def work(link: McpLink) -> Any:
        return link.call("once", {}, repeatable=repeatable)

    if again:
        assert text_of(do(one, work)) == "alive"
    else:
        with pytest.raises(McpConnectionLost, match="whether it ran is unknown") as lost:
            do(one, work)
        assert lost.value.sent
    assert say(one, "once") == "alive"


def test_a_call_that_kills_every_server_is_made_twice_and_no_more(system: ActorSystem) -> None:
    one = member(system, peer())
    with pytest.raises(McpConnectionLost, match="exited with status 3"):
        call(one, "die")
    assert say(one, "echo", text="x") == "x"


def test_a_tool_that_vanished_is_refused_by_name(system: ActorSystem, tmp_path: Path) -> None:
    one = member(system, server_config("other_after_restart", str(tmp_path / "memory"), **QUICK))
    assert sorted(do(one, lambda link: link.open()).tools) == ["die", "once", "pid"]
    os.kill(int(say(one, "pid")), signal.SIGKILL)
    with pytest.raises(
        McpToolGone, match=r"server 'x' does not list 'once' any more; it lists die, pid"
    ):
        call(one, "once")


def test_members_hear_of_other_tools(system: ActorSystem) -> None:
    one, two = (member(system, server_config("changes", **QUICK)) for _ in range(2))
    say(one, "pid")
    say(two, "pid")
    say(one, "tool_0")
    for each in (one, two):
        become(lambda each=each: each.ask("changes")[-1] == ["pid", "tool_1"])  # type: ignore[misc]
    say(two, "tool_1")


def test_a_flood_of_changes_is_listed_a_few_times(system: ActorSystem) -> None:
    one = member(system, server_config("floods", **QUICK))
    for _ in range(3):
        assert say(one, "echo", text="x") == "x"
    assert len(one.ask("changes")) == 1


def test_a_hung_server_is_replaced(system: ActorSystem) -> None:
    one = member(system, peer(call=0.5))
    pid = int(say(one, "pid"))
    os.kill(pid, signal.SIGSTOP)
    become(lambda: not isinstance(_pid_or_error(one), str))
    assert _pid_or_error(one) != pid
    become(lambda: gone(pid))


def _pid_or_error(one: Any) -> int | str:
    answer = do(one, lambda link: together(link.call("pid", {})))[0]
    return f"{answer}" if isinstance(answer, Exception) else int(text_of(answer))


def test_a_server_that_cannot_start_says_why_each_time_and_is_tried_again(
    system: ActorSystem, tmp_path: Path
) -> None:
    program = tmp_path / "late"
    config = replace(peer(), server=StdioServer(str(program)))
    one = member(system, config)
    for _ in range(2):
        with pytest.raises(McpConnectionLost, match=f"server 'x'.*{program.name}"):
            call(one, "pid")
    good = server_config("peer").server
    assert isinstance(good, StdioServer)
    program.write_text(f"#!/bin/sh\nexec {good.command} {' '.join(good.args)}\n")
    program.chmod(0o755)
    assert int(say(one, "pid"))


def test_a_connection_that_is_down_says_why_and_is_begun_anew(
    system: ActorSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.mcp.hub.MAX_RESTARTS", 1)
    one = member(system, peer())
    pids = set()
    for _ in range(6):
        pid = int(say(one, "pid"))
        pids.add(pid)
        os.kill(pid, signal.SIGKILL)
        become(lambda pid=pid: gone(pid))  # type: ignore[misc]
    assert len(pids) == 6


def test_a_connection_says_how_it_is(system: ActorSystem) -> None:
    one = member(system, peer())
    pid = int(say(one, "pid"))
    connection = do(one, _connection)
    state = connection.ask(ReadState())
    assert state == ConnectionState(
        "ready", pid, "2025-11-25", {"name": "Peer", "version": "1"}, state.tools
    )
    assert text_of(connection.ask(CallTool("echo", {"text": "by message"}))) == "by message"
    with pytest.raises(McpConnectionLost, match="exited with status 3") as lost:
        connection.ask(CallTool("die", {}))
    assert lost.value.sent


async def _connection(link: McpLink) -> Any:
    await link.open()
    return link.connection


def test_a_thousand_members_share_one_server(system: ActorSystem) -> None:
    config = peer()
    members = [member(system, config) for _ in range(1000)]
    replies = [
        each.ask(lambda link, n=number: link.call("echo", {"text": str(n)}), block=False)
        for number, each in enumerate(members)
    ]
    texts = [text_of(reply.get(timeout=60)) for reply in replies]
    assert texts == [str(number) for number in range(1000)]
    assert len({say(each, "pid") for each in members[::100]}) == 1
