"""MCP servers that are killed, stopped and cut off all the time cost calls time or an error, and nothing else."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from actors import TurnResult
from actors.mcp.config import McpServerConfig
from actors.testing import RecordedRequest, answer, tool_calls
from actors.testing.replies import Reply
from runtime import Backoff
from tests.actors.agent.stage import Stage
from tests.actors.mcp.members import gone
from tests.actors.mcp.sessions import server_config

AGENTS = 50
STEPS = 8
CALLS_A_STEP = 5
SERVERS = ("one", "two", "three")
PERIOD_S = 0.1
HARM = (signal.SIGKILL, signal.SIGSTOP, signal.SIGUSR1, signal.SIGUSR2)

LIMITS = {"call": 2.0, "ceiling": 2.0, "ping": 0.3, "idle": 0.5, "handshake": 10.0, "shutdown": 0.2}
LONGEST_S = 2 * (2 * LIMITS["handshake"] + LIMITS["ceiling"])
"""What a call may take at most, see `McpLink.longest`."""


class Script:
    """Each agent calls `echo` with texts of its own, some calls a step, and keeps what came back."""

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self.wrong: list[tuple[str, str]] = []

    def __call__(self, request: RecordedRequest) -> Reply:
        messages = request.json["messages"]
        who = messages[-1 if len(messages) < 3 else 1]["content"]
        steps = [message for message in messages if message["role"] == "assistant"]
        if len(steps) == STEPS:
            self._check(messages)
            return answer("done")
        calls = []
        for number in range(CALLS_A_STEP):
            text = f"{who}/{len(steps)}/{number}"
            server = SERVERS[(len(steps) + number) % len(SERVERS)]
            arguments = msgspec.json.encode({"text": text}).decode()
            calls.append((text, f"mcp_{server}_echo", arguments))
        return tool_calls(*calls)

    def _check(self, messages: list[dict[str, Any]]) -> None:
        """Look at all results of a turn."""
        for message in messages:
            if message["role"] != "tool":
                continue
            asked, got = message["tool_call_id"], message["content"]
            if '"status":"error"' in got.replace(" ", ""):
                self.outcomes["error"] += 1
            elif asked in got:
                self.outcomes["result"] += 1
            else:
                self.wrong.append((asked, got))


@contextmanager
def killer(directory: Path) -> Iterator[Counter[str]]:
    """Does harm to one of the servers, each of which leaves its number in the directory, every 100 ms."""
    done: Counter[str] = Counter()
    over = threading.Event()
    chance = random.Random(7)

    def work() -> None:
        while not over.wait(PERIOD_S):
            pid = chance.choice([*pids(directory)] or [0])
            harm = chance.choice(HARM)
            try:
                if pid:
                    os.kill(pid, harm)
                    done[harm.name] += 1
            except ProcessLookupError:
                pass

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield done
    finally:
        over.set()
        thread.join()


def pids(directory: Path) -> set[int]:
    """The newest process of each server."""
    found = set()
    for file in directory.iterdir():
        text = file.read_text().split()
        found |= {int(text[-1])} if text else set()
    return found


def config(name: str, directory: Path) -> McpServerConfig:
    """A server that notes the number of its process."""
    given = server_config("chaotic", **LIMITS)
    server: Any = given.server
    script = f'echo $$ >> {directory}/{name}; exec "$0" "$@"'
    return replace(
        given,
        server=replace(server, command="sh", args=("-c", script, server.command, *server.args)),
    )


@pytest.mark.time_limit(240)
def test_every_call_ends_with_its_own_result_or_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.mcp.hub.BACKOFF", Backoff(initial=0.02, maximum=0.2))
    script = Script()
    configs = {name: config(name, tmp_path) for name in SERVERS}
    with Stage(script) as stage:
        agents = [
            stage.agent(
                setup={"mcp_servers": configs, "name": f"agent-{number}"},
                native_tool_calls="always",
                max_steps=STEPS + 2,
                max_history_messages=0,
            )
            for number in range(AGENTS)
        ]
        for agent in agents:
            agent.tools()
        began = time.monotonic()
        with killer(tmp_path) as harm:
            replies = [
                agent.aprocess_query(f"agent-{number}") for number, agent in enumerate(agents)
            ]
            results: list[TurnResult] = [reply.get(timeout=200) for reply in replies]
        took = time.monotonic() - began
    assert script.wrong == []
    assert Counter(result.outcome for result in results) == {"answered": AGENTS}
    assert script.outcomes.total() == AGENTS * STEPS * CALLS_A_STEP
    assert script.outcomes["result"] > 0
    assert all(harm[each.name] for each in HARM), harm
    assert took < STEPS * CALLS_A_STEP * LONGEST_S
    started = {int(text) for file in tmp_path.iterdir() for text in file.read_text().split()}
    assert len(started) > len(SERVERS)
    assert all(gone(pid) for pid in started)
    print(f"{script.outcomes}, {harm}, {len(started)} processes, {took:.1f} s")
