"""Messages to and from a program, and how its end is told."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from typing import Any

import pytest
import structlog

from actors.errors import InvalidArgument, McpConnectionLost
from actors.mcp.config import McpTimeouts, StdioServer
from actors.mcp.jsonrpc import Answer, Noise
from actors.mcp.process import ServerProcess
from actors.mcp.process_command import Launch
from actors.mcp.stdio import StdioTransport
from tests.actors.mcp.stdio_peers import (
    QUICK,
    Connection,
    Recorder,
    message,
    on_both_loops,
    program,
    run,
)

pytestmark = on_both_loops

ANSWER = '{"jsonrpc":"2.0","id":1,"result":"last"}'


def test_messages_go_out_and_come_in_in_order(loop: str) -> None:
    async def main() -> None:
        async with Connection(program("echo")) as there:
            assert not there.transport.closing_cancels
            there.transport.agreed("2026-07-28", legacy=False)
            for number in range(50):
                await there.transport.send(message(number))
            got = [await there.recorder.next() for _ in range(50)]
        assert got == [Answer(number, "hi") for number in range(50)]
        assert there.recorder.losses == []

    run(loop, main())


def test_twenty_megabytes_both_ways(loop: str) -> None:
    text = "x" * 20_000_000

    async def main() -> None:
        async with Connection(program("echo")) as there:
            await there.transport.send(message(1, text))
            assert await there.recorder.next_result() == text

    run(loop, main())


def test_a_megabyte_of_log_before_an_answer_holds_nobody_up(loop: str) -> None:
    async def main() -> None:
        async with Connection(program("echo", "1000000")) as there:
            await there.transport.send(message(1))
            assert await there.recorder.next_result() == "hi"
            assert there.transport.last_words().startswith("; it said last: log line")

    with structlog.testing.capture_logs() as logs:
        run(loop, main())
    assert {
        "event": "a server's log",
        "server": "x",
        "line": "log line",
        "log_level": "debug",
    } in logs


def test_what_is_no_message_is_noise_and_skipped(loop: str) -> None:
    output = f"\ufeffready on stdio\r\n\r\n{{}}\n{ANSWER}\r\n"

    async def main() -> None:
        async with Connection(program("says", "0", output, "")) as there:
            got = [await there.recorder.next() for _ in range(3)]
        banner, empty, answer = got
        assert isinstance(banner, Noise)
        assert "'ready on stdio'" in banner.why
        assert isinstance(empty, Noise)
        assert answer == Answer(1, "last")

    run(loop, main())


@pytest.mark.parametrize("size", [10, 60_000])
def test_what_was_written_before_death_is_received_before_the_loss(loop: str, size: int) -> None:
    words = ANSWER.replace("last", "x" * size)

    async def main() -> None:
        async with Connection(program("says", "3", words + "\n", "out of paper\n")) as there:
            error = await there.recorder.loss()
            assert await there.recorder.next_result() == "x" * size
        assert str(error) == "server 'x' exited with status 3; it said last: out of paper"
        assert error.sent
        assert len(there.recorder.losses) == 1

    run(loop, main())


def test_a_server_that_died_before_its_pipes_were_looked_at_is_heard_too(
    loop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = ServerProcess._started_child

    def started_and_dead(process: ServerProcess, launch: Launch) -> subprocess.Popen[bytes]:
        child = start(process, launch)
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        return child

    async def main() -> None:
        async with Connection(program("says", "3", ANSWER + "\n", "out of paper\n")) as there:
            error = await there.recorder.loss()
            assert await there.recorder.next_result() == "last"
        assert str(error) == "server 'x' exited with status 3; it said last: out of paper"

    monkeypatch.setattr(ServerProcess, "_started_child", started_and_dead)
    run(loop, main())


def test_half_a_line_before_death_is_noise_and_a_whole_message_without_line_end_is_one(
    loop: str,
) -> None:
    async def main() -> None:
        async with Connection(program("says", "0", ANSWER[:20], "")) as half:
            await half.recorder.loss()
            assert isinstance(await half.recorder.next(), Noise)
        async with Connection(program("says", "0", ANSWER, "")) as whole:
            await whole.recorder.loss()
            assert await whole.recorder.next_result() == "last"

    run(loop, main())


def test_a_signal_that_ended_a_server_is_named(loop: str) -> None:
    async def main() -> None:
        async with Connection(program("echo")) as there:
            os.kill(there.pid, signal.SIGKILL)
            error = await there.recorder.loss()
        assert str(error) == "server 'x' was ended by SIGKILL"

    run(loop, main())


def test_a_server_is_lost_when_it_ends_though_its_child_holds_its_pipes(loop: str) -> None:
    async def main() -> None:
        async with Connection(program("family", "exit")) as there:
            error = await there.recorder.loss()
            assert await there.recorder.next_result()
        assert str(error) == "server 'x' exited with status 3"

    run(loop, main())


@pytest.mark.parametrize("stream", ["input", "output"])
def test_a_server_that_closes_a_pipe_and_runs_on_is_lost(loop: str, stream: str) -> None:
    number = "0" if stream == "input" else "1"

    async def main() -> None:
        async with Connection(program("closes", number)) as there:
            error = await there.recorder.loss()
            assert str(error) == (
                f"server 'x' closed its standard {stream}, but runs on; it said last: closing"
            )
            with pytest.raises(McpConnectionLost) as caught:
                await there.transport.send(message(1))
            assert not caught.value.sent
            assert str(caught.value) == str(error)

    run(loop, main())


@pytest.mark.parametrize("number", ["0", "1"])
def test_a_message_that_cannot_be_sent_fails_when_the_loss_is_told(loop: str, number: str) -> None:
    async def main() -> None:
        async with Connection(program("closes", number)) as there:
            with pytest.raises(McpConnectionLost, match="but runs on") as caught:
                while True:
                    await there.transport.send(message(1))
                    await asyncio.sleep(0.01)
            assert not caught.value.sent
            assert there.recorder.losses

    run(loop, main())


def test_nothing_can_be_sent_after_the_loss(loop: str) -> None:
    async def main() -> None:
        async with Connection(program("says", "1", "", "no\n")) as there:
            await there.recorder.loss()
            with pytest.raises(
                McpConnectionLost, match="server 'x' exited with status 1"
            ) as caught:
                await there.transport.send(message(1))
            assert not caught.value.sent

    run(loop, main())


def test_a_message_waits_while_the_server_does_not_read_and_is_unsent_if_given_up(
    loop: str,
) -> None:
    async def main() -> None:
        async with Connection(program("echo")) as there:
            os.kill(there.pid, signal.SIGSTOP)
            await there.transport.send(message(1, "x" * 1_000_000))
            given_up = asyncio.create_task(there.transport.send(message(2)))
            patient = asyncio.create_task(there.transport.send(message(3)))
            for _ in range(10):
                await asyncio.sleep(0)
            assert not given_up.done()
            given_up.cancel()
            await asyncio.wait([given_up])
            assert not patient.done()
            os.kill(there.pid, signal.SIGCONT)
            await patient
            got = [await there.recorder.next() for _ in range(2)]
        assert [answer.id for answer in got if isinstance(answer, Answer)] == [1, 3]

    run(loop, main())


@pytest.mark.parametrize("end", ["close", "death"])
def test_a_message_that_waits_fails_unsent_when_the_connection_ends(loop: str, end: str) -> None:
    async def main() -> None:
        async with Connection(program("echo")) as there:
            os.kill(there.pid, signal.SIGSTOP)
            await there.transport.send(message(1, "x" * 1_000_000))
            waiting = asyncio.create_task(there.transport.send(message(2)))
            await asyncio.sleep(0)
            if end == "close":
                await there.transport.aclose()
            else:
                os.kill(there.pid, signal.SIGKILL)
            with pytest.raises(McpConnectionLost) as caught:
                await waiting
            assert not caught.value.sent

    run(loop, main())


def test_nothing_is_told_once_closing_has_begun(loop: str) -> None:
    async def main() -> None:
        async with Connection(program("echo")) as there:
            os.kill(there.pid, signal.SIGSTOP)
            await there.transport.send(message(1))
            closing = asyncio.create_task(there.transport.aclose())
            await asyncio.sleep(0)
            os.kill(there.pid, signal.SIGCONT)
            await closing
        assert there.recorder.messages.empty()
        assert there.recorder.losses == []

    run(loop, main())


def test_a_transport_lives_once(loop: str) -> None:
    async def main() -> None:
        async with Connection(program("echo")) as there:
            with pytest.raises(InvalidArgument, match="lives once"):
                await there.transport.open(there.recorder)
        with pytest.raises(InvalidArgument, match="lives once"):
            await there.transport.open(there.recorder)
        unopened = StdioTransport("x", program("echo"), QUICK)
        await unopened.aclose()
        with pytest.raises(InvalidArgument, match="lives once"):
            await unopened.open(Recorder())

    run(loop, main())


def test_two_servers_at_once_do_not_meet(loop: str) -> None:
    async def main() -> None:
        async with Connection(program("echo")) as one, Connection(program("echo")) as other:
            await one.transport.send(message(1, "one"))
            await other.transport.send(message(1, "other"))
            assert await one.recorder.next_result() == "one"
            await one.transport.aclose()
            assert await other.recorder.next_result() == "other"
            await other.transport.send(message(2, "again"))
            assert await other.recorder.next_result() == "again"

    run(loop, main())


def failure(loop: str, server: StdioServer) -> str:
    """Why it cannot be opened."""
    texts: list[str] = []

    async def main() -> None:
        transport = StdioTransport("x", server, McpTimeouts())
        with pytest.raises(McpConnectionLost) as caught:
            await transport.open(Recorder())
        assert not caught.value.sent
        await transport.aclose()
        texts.append(str(caught.value))

    run(loop, main())
    return texts[0]


def test_a_command_that_is_not_there_is_named_with_the_path(loop: str) -> None:
    server = StdioServer("no-such-program", env=(("PATH", "/nowhere:/bin"),))
    assert failure(loop, server) == (
        "server 'x': the command 'no-such-program' is not found: it is not on the PATH its process "
        "gets, '/nowhere:/bin'; install it, or give its whole path"
    )


def test_a_directory_that_is_not_there_is_named(loop: str, tmp_path: Any) -> None:
    missing = str(tmp_path / "gone")
    text = failure(loop, StdioServer(sys.executable, cwd=missing))
    assert f"its working directory {missing!r} is no directory" in text


def test_a_program_that_cannot_be_executed_leaves_nothing(loop: str, tmp_path: Any) -> None:
    script = tmp_path / "script"
    script.write_text("#!/no/such/interpreter\n", encoding="utf-8")
    script.chmod(0o755)
    assert f"{str(script)!r} cannot be started: " in failure(loop, StdioServer(str(script)))
