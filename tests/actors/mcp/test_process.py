"""What a server's process is given, and how it and what it has started are ended."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import structlog

from actors.errors import McpConnectionLost
from actors.mcp import warden
from actors.mcp.config import McpTimeouts, StdioServer
from actors.mcp.process_command import environment_of, launch_of
from actors.mcp.process_group import end_group, group_runs
from actors.mcp.stdio import StdioTransport
from actors.mcp.stdio_log import ServerLog
from tests.actors.mcp.stdio_peers import (
    PATIENCE_S,
    PROGRAMS,
    QUICK,
    Connection,
    Recorder,
    become,
    is_running,
    message,
    on_both_loops,
    program,
    run,
)
from tests.leftovers import child_pids

OURS = {"PATH": "/bin", "HOME": "/root", "LC_ALL": "C", "LANGUAGE": "de", "SECRET": "s"}
STUBBORN = program("family", "stay")
WITH_CHILD = program("family", "exit")


# -- what it is given -----------------------------------------------------------------------------


def test_an_override_keeps_the_path() -> None:
    env = environment_of(StdioServer("x", env=(("SECRET", "other"), ("NEW", "1"))), OURS)
    assert env == OURS | {"SECRET": "other", "NEW": "1"}


def test_a_minimal_environment_has_what_programs_need_and_the_overrides() -> None:
    server = StdioServer("x", env=(("NEW", "1"),), environment="minimal")
    assert environment_of(server, OURS) == {
        "PATH": "/bin",
        "HOME": "/root",
        "LC_ALL": "C",
        "NEW": "1",
    }


def executable(path: Path) -> Path:
    """A program there."""
    path.parent.mkdir(exist_ok=True)
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_a_command_is_looked_for_on_the_path_the_process_gets(tmp_path: Path) -> None:
    tool = executable(tmp_path / "tool")
    server = StdioServer("tool", ("a",), env=(("PATH", str(tmp_path)),))
    launch = launch_of("x", server, OURS)
    assert (launch.program, launch.args, launch.directory) == (str(tool), ("a",), None)
    with pytest.raises(McpConnectionLost, match="'tool' is not found: it is not on the PATH"):
        launch_of("x", StdioServer("tool"), OURS)


def test_a_command_with_a_slash_is_taken_from_the_directory(tmp_path: Path) -> None:
    tool = executable(tmp_path / "bin" / "tool")
    server = StdioServer("bin/tool", cwd=str(tmp_path))
    assert launch_of("x", server, OURS).program == str(tool)
    tool.chmod(0o644)
    with pytest.raises(McpConnectionLost, match=f"there is no executable file '{tool}'"):
        launch_of("x", server, OURS)


@on_both_loops
def test_a_server_runs_in_its_directory_with_its_environment(loop: str, tmp_path: Path) -> None:
    code = (
        "import json, os;"
        "result = [os.getcwd(), os.environ.get('NEW'), os.environ.get('PYTEST_CURRENT_TEST')];"
        "print(json.dumps({'jsonrpc': '2.0', 'id': 1, 'result': result}))"
    )
    server = StdioServer(
        sys.executable, ("-c", code), (("NEW", "1"),), "minimal", cwd=str(tmp_path)
    )

    async def main() -> None:
        async with Connection(server) as there:
            assert await there.recorder.next_result() == [str(tmp_path), "1", None]

    run(loop, main())


# -- its end --------------------------------------------------------------------------------------


@on_both_loops
def test_a_server_that_ends_with_its_input_gets_no_signal(loop: str, tmp_path: Path) -> None:
    mark = tmp_path / "ended"
    code = f"import sys, pathlib; sys.stdin.read(); pathlib.Path({str(mark)!r}).touch()"

    async def main() -> None:
        slow = McpTimeouts(shutdown=PATIENCE_S)
        async with Connection(StdioServer(sys.executable, ("-c", code)), slow):
            pass
        assert mark.exists()

    run(loop, main())


@on_both_loops
@pytest.mark.parametrize("server", [STUBBORN, WITH_CHILD], ids=["stubborn", "dead with child"])
def test_all_of_a_family_is_ended(loop: str, server: StdioServer) -> None:
    async def main() -> None:
        async with Connection(server) as there:
            pids = await there.recorder.next_result()
            assert is_running(pids[1])
        assert not [pid for pid in pids if is_running(pid)]

    run(loop, main())


@on_both_loops
def test_a_stopped_server_is_ended(loop: str) -> None:
    async def main() -> None:
        async with Connection(STUBBORN) as there:
            pids = await there.recorder.next_result()
            os.killpg(there.pid, signal.SIGSTOP)
        assert not [pid for pid in pids if is_running(pid)]

    run(loop, main())


@on_both_loops
def test_closing_twice_and_at_once_waits_for_the_end_each_time(loop: str) -> None:
    async def main() -> None:
        async with Connection(STUBBORN) as there:
            await there.recorder.next()

            async def close() -> None:
                await there.transport.aclose()
                assert not group_runs(there.pid)

            await asyncio.gather(close(), close())
            await close()

    run(loop, main())


@on_both_loops
def test_a_cancel_does_not_break_closing_off(loop: str) -> None:
    async def main() -> None:
        async with Connection(STUBBORN) as there:
            await there.recorder.next()
            closing = asyncio.create_task(there.transport.aclose())
            for _ in range(3):
                await asyncio.sleep(0)
                closing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await closing
            assert not group_runs(there.pid)

    run(loop, main())


@on_both_loops
def test_opening_cancelled_at_any_time_leaves_nothing(loop: str) -> None:
    async def main() -> None:
        for turns in range(20):
            transport = StdioTransport("x", StdioServer("cat"), QUICK)
            opening = asyncio.create_task(transport.open(Recorder()))
            for _ in range(turns):
                await asyncio.sleep(0)
            opening.cancel()
            await asyncio.wait([opening])
            if not opening.cancelled():
                await transport.aclose()
            assert transport.pid is None or not group_runs(transport.pid)

    run(loop, main())


def test_a_group_whose_members_all_ended_unnoticed_does_not_run() -> None:
    child = subprocess.Popen(["true"], start_new_session=True)
    try:
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        os.killpg(child.pid, 0)  # it is still there, for us to wait for
        assert not group_runs(child.pid)
        assert asyncio.run(end_group(child.pid, 0.0))
    finally:
        child.wait()


# -- the end of its owner -------------------------------------------------------------------------


@on_both_loops
@pytest.mark.parametrize("stopped", [False, True], ids=["running", "stopped"])
def test_a_family_does_not_outlive_an_owner_that_was_killed(loop: str, stopped: bool) -> None:
    owner = [sys.executable, str(PROGRAMS / "owner.py"), loop]
    with subprocess.Popen(
        [*owner, STUBBORN.command, *STUBBORN.args], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        pids = [int(word) for word in process.stdout.readline().split()]
        assert [is_running(pid) for pid in pids] == [True, True]
        if stopped:
            os.killpg(pids[0], signal.SIGSTOP)
        process.kill()
    asyncio.run(become(lambda: not any(map(is_running, pids))))


def test_without_a_pidfd_an_end_is_noticed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(pid: int, flags: int = 0) -> int:
        raise PermissionError("pidfd_open")

    async def main() -> None:
        async with Connection(program("says", "3", "", "")) as there:
            assert str(await there.recorder.loss()) == "server 'x' exited with status 3"
        async with Connection(program("echo")):
            pass

    monkeypatch.setattr(os, "pidfd_open", forbidden)  # a sandbox cannot be had in a test
    asyncio.run(main())


def test_without_a_shell_a_server_runs_without_a_warden_and_the_log_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def main() -> None:
        async with Connection(program("says", "0", "", "")) as there:
            await there.recorder.loss()

    monkeypatch.setattr(warden, "_SHELL", "/no/sh")
    with structlog.testing.capture_logs() as logs:
        asyncio.run(main())
    assert [log["server"] for log in logs if "no warden" in log["event"]] == ["x"]


@on_both_loops
def test_a_server_whose_warden_was_killed_runs_and_ends_as_always(loop: str) -> None:
    async def main() -> None:
        async with Connection(program("echo")) as there:
            (shell,) = [pid for pid in child_pids() if pid != there.pid]
            os.kill(shell, signal.SIGKILL)
            await become(lambda: not is_running(shell))
            await there.transport.send(message(1))
            assert await there.recorder.next_result() == "hi"

    with structlog.testing.capture_logs() as logs:
        run(loop, main())
    assert "a server's warden is gone" in [log["event"] for log in logs]


def test_a_server_in_another_thread_is_ended_like_any_other() -> None:
    async def main() -> None:
        async with Connection(program("echo")) as there:
            await there.transport.send(message(1))
            assert await there.recorder.next_result() == "hi"

    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, main()).result(PATIENCE_S)


# -- its last words -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", ""),
        (b"\n \n", ""),
        (b"one\ntwo\nthree\nfour\n", "two; three; four"),
        (b"\x1b[31mred\x1b[0m  paper\r\n", "red paper"),
        (b"Traceback:\n  File x\n    raise\nKeyError: 'a'\n", "Traceback:; KeyError: 'a'"),
        (b"  only\n  indented\n", "only; indented"),
        (b"\xff\n", "\ufffd"),
        (b"x" * 10_000, "x" * 400),
    ],
)
def test_the_last_lines_are_shown_without_the_frames_of_a_trace(text: bytes, words: str) -> None:
    log = ServerLog("x")
    for start in range(0, len(text), 7):
        log.feed(text[start : start + 7])
    assert log.said() == (f"; it said last: {words}" if words else "")
