"""`greenroom mcp serve` as a process of its own, with our client and with raw lines."""

from __future__ import annotations

import array
import asyncio
import fcntl
import json
import os
import shlex
import signal
import subprocess
import termios
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import pytest

from actors.errors import McpRefused, McpTimeout
from actors.mcp.config import McpServerConfig, StdioServer, pairs
from actors.mcp.progress import Progress
from actors.mcp.session import McpSession
from actors.testing.model_server import ScriptedModelServer
from actors.testing.replies import Failure
from tests.actors.cli.program import COMMAND, environment, run_command
from tests.actors.cli.test_mcp_agent import DONE, calls
from tests.actors.mcp.sessions import PATIENT, new_session, on_loop, text_of

TOOLS = ("--tools", "tests.actors.cli.served_tools:ALL")
ERAS: tuple[Literal["legacy", "modern"], ...] = ("legacy", "modern")


def server(*options: str) -> StdioServer:
    """The command as a server."""
    return StdioServer(
        COMMAND[0], (*COMMAND[1:], "mcp", "serve", *options), env=pairs(environment())
    )


@asynccontextmanager
async def served(
    *options: str, era: Literal["auto", "legacy", "modern"] = "auto"
) -> AsyncIterator[McpSession]:
    """A session of ours with it."""
    session = new_session(McpServerConfig(server(*options), PATIENT, era=era))
    await session.open()
    try:
        yield session
    finally:
        await session.aclose()


async def until(fact: Callable[[], bool]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(30):
        while not fact():
            await asyncio.sleep(0.01)


def is_in(path: Path, text: str) -> Callable[[], bool]:
    """Whether a file holds this text."""
    return lambda: path.exists() and path.read_text(encoding="utf-8") == text


# -- tools ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
@on_loop
async def test_tools_are_listed_and_called(era: Literal["legacy", "modern"]) -> None:
    async with served(*TOOLS, era=era) as session:
        assert session.agreed.legacy is (era == "legacy")
        assert session.agreed.server["name"] == "greenroom"
        listed = {tool["name"]: tool for tool in await session.list_tools()}
        assert sorted(listed) == ["echo", "fail", "noisy", "reads", "table", "wait"]
        assert listed["echo"]["description"] == "Give the text back."
        assert listed["echo"]["inputSchema"]["required"] == ["text"]
        assert listed["echo"]["annotations"] == {"idempotentHint": True}
        assert "annotations" not in listed["noisy"]
        text = "gr\u00fcn \u2764\n" * 3
        assert text_of(await session.call_tool("echo", {"text": text})) == text
        assert (await session.call_tool("table", {"rows": 3}))["structuredContent"] == {"rows": 3}


@on_loop
async def test_our_own_client_finds_the_modern_era() -> None:
    async with served(*TOOLS) as session:
        assert session.agreed.revision == "2026-07-28"


@on_loop
async def test_what_goes_wrong_is_told() -> None:
    async with served(*TOOLS) as session:
        failed = await session.call_tool("fail", {"text": "so it is"})
        assert failed["isError"]
        assert text_of(failed) == "Tool execution failed: so it is"
        wrong = await session.call_tool("table", {"rows": "many"})
        assert wrong["isError"]
        assert "rows" in text_of(wrong)
        with pytest.raises(McpRefused, match="there is no tool 'risky'"):
            await session.call_tool("risky", {})


@on_loop
async def test_nothing_but_the_protocol_is_on_standard_output() -> None:
    async with served(*TOOLS) as session:
        line = '{"jsonrpc":"2.0","id":2,"result":{}}'
        for _ in range(3):
            assert text_of(await session.call_tool("noisy", {"text": line})) == "printed"
        assert text_of(await session.call_tool("reads", {})) == ""


@on_loop
async def test_megabytes_come_back_whole() -> None:
    async with served(*TOOLS) as session:
        text = "\u2764x" * 5_000_000
        assert text_of(await session.call_tool("echo", {"text": text})) == text


@on_loop
async def test_many_calls_run_at_once_and_none_gets_another_s_answer(tmp_path: Path) -> None:
    async with served(*TOOLS) as session:
        mark = tmp_path / "mark"
        waiting = asyncio.ensure_future(session.call_tool("wait", {"mark": str(mark)}))
        await until(is_in(mark, "runs"))
        texts = [str(number) for number in range(100)]
        results = await asyncio.gather(
            *(session.call_tool("echo", {"text": text}) for text in texts)
        )
        assert [text_of(result) for result in results] == texts
        waiting.cancel()
        await until(is_in(mark, "cancelled"))


@pytest.mark.parametrize("era", ERAS)
@on_loop
async def test_a_call_that_takes_too_long_is_cancelled_there(
    era: Literal["legacy", "modern"], tmp_path: Path
) -> None:
    async with served(*TOOLS, era=era) as session:
        mark = tmp_path / "mark"
        with pytest.raises(McpTimeout):
            await session.call_tool("wait", {"mark": str(mark)}, within=1.0)
        await until(lambda: not mark.exists() or is_in(mark, "cancelled")())
        assert text_of(await session.call_tool("echo", {"text": "on"})) == "on"


@on_loop
async def test_yes_offers_what_needs_approval_and_never_what_is_denied() -> None:
    async with served(*TOOLS, "--yes") as session:
        names = [tool["name"] for tool in await session.list_tools()]
        assert "risky" in names
        assert "never" not in names
        assert text_of(await session.call_tool("risky", {})) == "done"


# -- the end ----------------------------------------------------------------------------------------


def raw(lines: Sequence[object]) -> str:
    """Lines of JSON."""
    return "".join(json.dumps(line) + "\n" for line in lines)


INITIALIZE: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}


def call(identity: int, tool: str, **arguments: object) -> dict[str, Any]:
    """A call."""
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": identity, "method": "tools/call", "params": params}


def test_what_was_asked_before_the_end_is_answered() -> None:
    lines = [INITIALIZE, *(call(number, "echo", text="x") for number in range(2, 9))]
    ended = run_command(["mcp", "serve", *TOOLS], stdin=raw(lines))
    assert ended.returncode == 0
    answers = [json.loads(line) for line in ended.stdout.splitlines()]
    assert sorted(answer["id"] for answer in answers) == list(range(1, 9))
    assert ended.stderr == (
        "greenroom: not offered, since they need approval: risky, never; --yes offers them, and their "
        "approval is the client's business then\n"
    )


def test_garbage_is_answered_and_what_follows_is_read() -> None:
    lines = "\ufeff\r\n{\nnull\n[]\n\x00\n" + raw([INITIALIZE])
    ended = run_command(["mcp", "serve", *TOOLS], stdin=lines)
    assert ended.returncode == 0
    answers = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [answer["id"] for answer in answers].count(1) == 1
    assert {answer["error"]["code"] for answer in answers if answer["id"] is None} == {-32700}


def test_files_can_stand_for_the_streams(tmp_path: Path) -> None:
    asked, answered = tmp_path / "asked", tmp_path / "answered"
    asked.write_text(raw([INITIALIZE, call(2, "echo", text="x")]), encoding="utf-8")
    with asked.open("rb") as stdin, answered.open("wb") as stdout:
        subprocess.run(
            [*COMMAND, "mcp", "serve", *TOOLS],
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.DEVNULL,
            env=environment(),
            timeout=30,
            check=True,
        )
    assert len(answered.read_text(encoding="utf-8").splitlines()) == 2


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (None, 0)]
)
def test_a_call_that_runs_is_cancelled_at_the_end(
    number: signal.Signals | None, code: int, tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    with subprocess.Popen(
        [*COMMAND, "mcp", "serve", *TOOLS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdin is not None
        process.stdin.write(raw([INITIALIZE, call(2, "wait", mark=str(mark))]).encode())
        process.stdin.flush()
        asyncio.run(until(is_in(mark, "runs")))
        if number is None:
            process.stdin.close()
        else:
            process.send_signal(number)
        assert process.wait(30) == code
        assert is_in(mark, "cancelled")()


def test_a_client_that_does_not_read_does_not_hold_up_the_end() -> None:
    read_fd, write_fd = os.pipe()
    with subprocess.Popen(
        [*COMMAND, "mcp", "serve", *TOOLS],
        stdin=subprocess.PIPE,
        stdout=write_fd,
        stderr=subprocess.DEVNULL,
        env=environment(),
    ) as process:
        assert process.stdin is not None
        process.stdin.write(raw([INITIALIZE, call(2, "echo", text="x" * 1_000_000)]).encode())
        process.stdin.flush()
        os.close(write_fd)
        asyncio.run(until(lambda: bytes_in(read_fd) > 50_000))
        process.stdin.close()
        assert process.wait(30) == 0
    os.close(read_fd)


def test_a_client_that_is_gone_ends_it() -> None:
    read_fd, write_fd = os.pipe()
    with subprocess.Popen(
        [*COMMAND, "mcp", "serve", *TOOLS],
        stdin=subprocess.PIPE,
        stdout=write_fd,
        stderr=subprocess.DEVNULL,
        env=environment(),
    ) as process:
        os.close(write_fd)
        os.close(read_fd)
        assert process.stdin is not None
        process.stdin.write(raw([INITIALIZE]).encode())
        process.stdin.flush()
        assert process.wait(30) == 0


def bytes_in(fd: int) -> int:
    """Bytes that wait in a pipe."""
    count = array.array("i", [0])
    fcntl.ioctl(fd, termios.FIONREAD, count)
    return count[0]


# -- wrong use --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "nothing to serve"),
        ([*TOOLS, "--model", "m", "--system", "s"], "--model, --system would need an agent"),
        (["--agent", "--name", "a b"], "--name expects 1 to 64 letters"),
        (["--tools", "nowhere:x"], "there is no module 'nowhere'"),
        (["--agent", "--mcp-command", "/nowhere/x"], "MCP server 'x' cannot be used"),
        ([*TOOLS, *TOOLS], "'echo' is registered already"),
    ],
)
def test_wrong_use_ends_with_2_and_prints_nothing(options: list[str], said: str) -> None:
    ended = run_command(["mcp", "serve", *options])
    assert ended.returncode == 2
    assert said in ended.stderr
    assert ended.stdout == ""


# -- an agent -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
@on_loop
async def test_an_agent_answers_and_tells_what_it_does(era: Literal["legacy", "modern"]) -> None:
    with ScriptedModelServer([calls("echo", text="hi"), DONE]) as model:
        options = ("--agent", "--base-url", model.base_url, "--model", "m", *TOOLS)
        news: list[Progress] = []
        async with served(*options, era=era) as session:
            (tool,) = await session.list_tools()
            assert tool["name"] == "ask"
            result = await session.call_tool("ask", {"request": "why?"}, on_progress=news.append)
        assert text_of(result) == "It is done."
        assert [each.message for each in news] == [
            "step 1 of at most 20",
            "calls echo",
            "step 2 of at most 20",
        ]
        assert [each.progress for each in news] == [1, 2, 3]


@on_loop
async def test_each_call_has_an_agent_of_its_own() -> None:
    with ScriptedModelServer([DONE, DONE]) as model:
        options = ("--agent", "--base-url", model.base_url, "--model", "m", "--name", "sage")
        async with served(*options, "--description", "knows all") as session:
            (tool,) = await session.list_tools()
            assert (tool["name"], tool["description"]) == ("sage", "knows all")
            for question in ("of apples", "of pears"):
                await session.call_tool("sage", {"request": question})
        asked = json.dumps(model.chats[1].json["messages"])
        assert "of pears" in asked
        assert "of apples" not in asked


@on_loop
async def test_a_cancelled_question_closes_the_model_s_connection() -> None:
    with ScriptedModelServer([Failure("silent")]) as model:
        options = ("--agent", "--base-url", model.base_url, "--model", "m")
        async with served(*options) as session:
            asking = asyncio.ensure_future(session.call_tool("ask", {"request": "why?"}))
            await until(lambda: len(model.chats) == 1)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            await until(lambda: model.hangups == 1)


@pytest.mark.parametrize("arguments", [{}, {"request": ""}, {"request": 1}, {"question": "why?"}])
@on_loop
async def test_a_question_that_is_none_is_refused(arguments: dict[str, Any]) -> None:
    async with served("--agent", "--base-url", "http://127.0.0.1:9/v1", "--model", "m") as session:
        assert (await session.call_tool("ask", arguments))["isError"]


def test_an_agent_can_ask_an_agent() -> None:
    with (
        ScriptedModelServer([DONE]) as inner,
        ScriptedModelServer([calls("mcp_env_ask", request="why?"), DONE]) as outer,
    ):
        inside = ("mcp", "serve", "--agent", "--base-url", inner.base_url, "--model", "m")
        outside = ("--base-url", outer.base_url, "--model", "m", "--quiet", "--yes")
        serve = shlex.join(["env", *COMMAND, *inside])
        ended = run_command(["run", "why?", *outside, "--mcp-command", serve])
        assert ended.returncode == 0, ended.stderr
        assert ended.stdout == "It is done.\n"
        inner.assert_finished()
        assert "It is done." in json.dumps(outer.chats[1].json["messages"][-1])
