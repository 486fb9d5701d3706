"""`greenroom mcp serve` as the official SDK's client sees it, in both eras."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from actors.testing.model_server import ScriptedModelServer
from tests.actors.cli.program import COMMAND, environment
from tests.actors.cli.test_mcp_agent import DONE, calls
from tests.mcp_servers import McpServers

CLIENT = Path(__file__).with_name("mcp_official_client.py")
TOOLS = ("--tools", "tests.actors.cli.served_tools:ALL")
MODES = pytest.mark.parametrize(
    ("mode", "revision"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")]
)

pytestmark = [pytest.mark.real, pytest.mark.time_limit(120)]


def seen(servers: McpServers, mode: str, options: tuple[str, ...], *asked: Any) -> dict[str, Any]:
    """What the official client saw."""
    ended = subprocess.run(
        [servers.python, "-E", CLIENT, mode, "env", *COMMAND, "mcp", "serve", *options],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        timeout=60,
        env=environment(),
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    said: dict[str, Any] = json.loads(ended.stdout)
    return said


@MODES
def test_it_lists_and_calls_our_tools(
    servers: McpServers, tmp_path: Path, mode: str, revision: str
) -> None:
    mark = tmp_path / "mark"
    said = seen(
        servers,
        mode,
        TOOLS,
        ["echo", {"text": "gr\u00fcn \u2764"}],
        ["table", {"rows": 2}],
        ["fail", {"text": "on purpose"}],
        ["noisy", {"text": "noise"}],
        ["wait", {"limit": {"mark": str(mark)}}],
        ["echo", {"text": "after that"}],
        ["nothing", {}],
    )
    assert said["revision"] == revision
    assert said["server"] == "greenroom"
    assert sorted(said["tools"]) == ["echo", "fail", "noisy", "reads", "table", "wait"]
    echo, table, fail, noisy, wait, after, nothing = said["results"]
    assert echo["content"][0]["text"] == "gr\u00fcn \u2764"
    assert table["structuredContent"] == {"rows": 2}
    assert fail["isError"]
    assert noisy["content"][0]["text"] == "printed"
    assert isinstance(wait, str)
    assert after["content"][0]["text"] == "after that"
    assert "there is no tool 'nothing'" in nothing
    assert mark.read_text(encoding="utf-8") == "cancelled"


@MODES
def test_it_asks_our_agent_and_sees_its_steps(
    servers: McpServers, mode: str, revision: str
) -> None:
    with ScriptedModelServer([calls("echo", text="hi"), DONE]) as model:
        options = ("--agent", "--base-url", model.base_url, "--model", "m", *TOOLS)
        said = seen(servers, mode, options, ["ask", {"request": "why?"}])
        model.assert_finished()
    assert said["revision"] == revision
    assert said["tools"] == ["ask"]
    assert said["results"][0]["content"][0]["text"] == "It is done."
    assert said["news"] == [
        [1, "step 1 of at most 20"],
        [2, "calls echo"],
        [3, "step 2 of at most 20"],
    ]
