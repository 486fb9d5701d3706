"""The server process with a real model: it starts, it is noticed when it dies, it never outlives its owner."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from actors.errors import InvalidArgument, LocalModelError
from actors.model.local_process import LocalServer, LocalServerOptions
from actors.model.model_files import FoundModel
from runtime.clock import new_loop

pytestmark = [pytest.mark.real, pytest.mark.time_limit(120)]

ONE_THREAD = LocalServerOptions(threads=1)

OWNER = """
import asyncio, sys
from pathlib import Path
from actors.model.local_process import LocalServer, LocalServerOptions

async def own():
    server = LocalServer(Path(sys.argv[1]), LocalServerOptions(threads=1))
    await server.start()
    print(server.pid, flush=True)
    await asyncio.get_running_loop().create_future()

asyncio.run(own())
"""


@pytest.fixture
def owner(model: FoundModel) -> Iterator[subprocess.Popen[str]]:
    """A process that owns a server and has printed its number."""
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, str(model.path)], stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.kill()


def test_it_answers_on_loopback_once_it_has_started(model: FoundModel) -> None:
    async def scene() -> None:
        server = LocalServer(model.path, ONE_THREAD)
        base_url = await server.start()
        try:
            async with httpx.AsyncClient(trust_env=False) as client:
                reply = await client.get(f"{base_url}/models")
            connections = psutil.Process(server.pid).net_connections()
        finally:
            await server.stop()
        assert reply.is_success
        assert {connection.laddr.ip for connection in connections} == {"127.0.0.1"}

    asyncio.run(scene())


def test_a_killed_server_is_noticed_with_its_signal(model: FoundModel) -> None:
    async def scene() -> None:
        server = LocalServer(model.path, ONE_THREAD)
        await server.start()
        assert server.pid is not None
        dead = asyncio.create_task(server.wait_dead())
        os.kill(server.pid, signal.SIGKILL)
        assert "was ended by SIGKILL" in await dead
        await server.stop()

    asyncio.run(scene())


def test_stop_ends_the_process_and_may_be_repeated(model: FoundModel) -> None:
    async def scene() -> None:
        server = LocalServer(model.path, ONE_THREAD)
        await server.start()
        assert server.pid is not None
        await server.stop()
        assert not psutil.pid_exists(server.pid)
        await server.stop()

    asyncio.run(scene())


def test_a_stopped_process_that_does_not_go_is_killed(model: FoundModel) -> None:
    async def scene() -> None:
        server = LocalServer(model.path, LocalServerOptions(threads=1, stop_timeout_s=0.1))
        await server.start()
        assert server.pid is not None
        os.kill(server.pid, signal.SIGSTOP)  # a stopped process does not take SIGTERM
        os.waitid(os.P_PID, server.pid, os.WSTOPPED | os.WNOWAIT)  # it stops a moment later
        await server.stop()
        assert "SIGKILL" in await server.wait_dead()

    asyncio.run(scene())


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_server_ends_with_its_owner(
    owner: subprocess.Popen[str], number: signal.Signals
) -> None:
    assert owner.stdout is not None
    server = psutil.Process(int(owner.stdout.readline()))
    owner.send_signal(number)
    server.wait(timeout=30)


def test_the_terminals_interrupt_does_not_reach_it(model: FoundModel) -> None:
    async def scene() -> None:
        server = LocalServer(model.path, ONE_THREAD)
        base_url = await server.start()
        assert server.pid is not None
        try:
            assert os.getsid(server.pid) == server.pid
            os.kill(server.pid, signal.SIGINT)
            async with httpx.AsyncClient(trust_env=False) as client:
                assert (await client.get(f"{base_url}/models")).is_success
        finally:
            await server.stop()

    asyncio.run(scene())


def test_a_start_that_is_cancelled_leaves_nothing(model: FoundModel) -> None:
    async def scene() -> None:
        server = LocalServer(model.path, ONE_THREAD)
        starting = asyncio.create_task(server.start())
        while server.pid is None:
            await asyncio.sleep(0)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        assert not psutil.pid_exists(server.pid)

    asyncio.run(scene())


def test_a_start_that_takes_too_long_is_given_up(model: FoundModel) -> None:
    async def scene() -> None:
        server = LocalServer(model.path, LocalServerOptions(threads=1, start_timeout_s=0.05))
        with pytest.raises(LocalModelError, match=r"did not answer within 0\.05 s"):
            await server.start()
        assert server.pid is None or not psutil.pid_exists(server.pid)

    asyncio.run(scene())


def test_it_lives_once(model: FoundModel) -> None:
    async def scene() -> None:
        server = LocalServer(model.path, LocalServerOptions(threads=1, start_timeout_s=0.05))
        with pytest.raises(LocalModelError):
            await server.start()
        with pytest.raises(InvalidArgument, match="make a new one"):
            await server.start()

    asyncio.run(scene())


def test_a_broken_model_file_is_told_in_the_words_of_the_server(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + bytes(100))
    server = LocalServer(broken, ONE_THREAD)
    with pytest.raises(LocalModelError, match=r"ended with status 1: .*gguf"):
        asyncio.run(server.start())


@pytest.mark.parametrize("delay_s", [0.0, 0.001, 0.003, 0.01, 0.03, 0.1])
@pytest.mark.parametrize("loops", ["asyncio", "uvloop"])
def test_a_start_broken_off_at_any_moment_leaves_no_process_and_no_pipe(
    model: FoundModel, delay_s: float, loops: str
) -> None:
    async def scene() -> LocalServer:
        server = LocalServer(model.path, LocalServerOptions(threads=1))
        starting = asyncio.create_task(server.start())
        await asyncio.sleep(delay_s)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        return server

    loop, _ = new_loop(loops == "uvloop")
    with contextlib.closing(loop):
        server = loop.run_until_complete(scene())
    if server.pid is not None:
        assert not psutil.pid_exists(server.pid)
