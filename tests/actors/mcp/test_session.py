"""`McpSession` with real servers over stdio: both eras, calls at once, what the server begins."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from typing import Any

import pytest
from msgspec.structs import replace

from actors.errors import McpConnectionLost, McpProtocolError, McpRefused, McpTimeout
from actors.mcp.channel import EraMemory
from actors.mcp.dispatcher import Refusal
from actors.mcp.hooks import McpHooks
from actors.mcp.progress import Progress
from tests.actors.mcp.sessions import (
    Heard,
    new_session,
    on_loop,
    opened,
    seen_by,
    server_config,
    text_of,
)

# -- agreeing ---------------------------------------------------------------------------------------


@on_loop
async def test_a_legacy_server_is_initialized() -> None:
    async with opened(server_config("peer")) as session:
        assert (session.agreed.revision, session.agreed.legacy) == ("2025-11-25", True)
        assert session.agreed.server["name"] == "Peer"
        seen = await seen_by(session)
    assert seen["notes"] == ["notifications/initialized"]
    assert seen["client"]["protocolVersion"] == "2025-11-25"
    assert seen["client"]["clientInfo"]["name"] == "greenroom"


@on_loop
async def test_a_modern_server_is_not() -> None:
    async with opened(server_config("modern")) as session:
        assert (session.agreed.revision, session.agreed.legacy) == ("2026-07-28", False)
        assert session.agreed.instructions == "be modern"
        seen = await seen_by(session)
    assert seen["notes"] == []
    assert seen["client"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"


@on_loop
async def test_a_server_that_exits_at_the_probe_is_started_again_and_remembered() -> None:
    era = EraMemory()
    config = server_config("exits_on_probe")
    for _ in range(2):
        async with opened(config, era=era) as session:
            assert session.agreed.legacy
            assert text_of(await session.call_tool("echo", {"text": "hi"})) == "hi"
        assert era.legacy is True


@on_loop
async def test_a_server_silent_at_the_probe_is_taken_for_legacy() -> None:
    async with opened(server_config("silent_on_probe", probe=0.2)) as session:
        assert session.agreed.legacy
        assert (await seen_by(session))["cancelled"] == []


@on_loop
async def test_an_era_can_be_configured() -> None:
    modern = replace(server_config("modern"), era="modern")
    async with opened(modern) as session:
        assert not session.agreed.legacy
    legacy = replace(server_config("exits_on_probe"), era="legacy")
    async with opened(legacy) as session:
        assert session.agreed.legacy
    with pytest.raises(McpRefused, match=r"server 'x' refused: no method server/discover"):
        await new_session(replace(server_config("peer"), era="modern")).open()


@pytest.mark.parametrize(
    ("server", "error", "text"),
    [
        ("wrong_version", McpProtocolError, "offers revision '1999-01-01'; spoken here are"),
        ("modern_only_other", McpProtocolError, "speaks the revisions 2031-01-01; spoken here are"),
        ("exits_at_once", McpConnectionLost, "no configuration found"),
    ],
)
@on_loop
async def test_a_server_that_cannot_be_spoken_to(
    server: str, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        await new_session(server_config(server)).open()


@on_loop
async def test_a_server_that_never_answers_costs_a_handshake() -> None:
    session = new_session(server_config("never_initializes", probe=0.1, handshake=1.0))
    with pytest.raises(McpTimeout, match=r"not ready within 1 s; it said last: .*the database"):
        await session.open()


@on_loop
async def test_opening_can_be_cancelled() -> None:
    opening = asyncio.ensure_future(new_session(server_config("never_initializes")).open())
    await asyncio.sleep(0.1)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening


# -- calls ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("server", ["peer", "modern"])
@on_loop
async def test_tools_are_listed_and_called(server: str) -> None:
    async with opened(server_config(server)) as session:
        names = [tool["name"] for tool in await session.list_tools()]
        assert {"echo", "fail", "structured"} <= set(names)
        assert (
            text_of(await session.call_tool("echo", {"text": "\u00fc\n\u2764"})) == "\u00fc\n\u2764"
        )
        assert (await session.call_tool("fail", {}))["isError"] is True
        with pytest.raises(McpRefused, match="unknown tool nothing") as refused:
            await session.call_tool("nothing", {})
        assert refused.value.code == -32602


@on_loop
async def test_many_calls_are_in_flight_and_each_gets_its_own_answer() -> None:
    async with opened(server_config("peer")) as session:
        texts = [f"text {number}" for number in range(300)]
        results = await asyncio.gather(
            *(session.call_tool("echo", {"text": text}) for text in texts)
        )
    assert [text_of(result) for result in results] == texts


@pytest.mark.parametrize("server", ["out_of_order", "duplicate_ids", "banner"])
@on_loop
async def test_answers_find_their_calls(server: str) -> None:
    async with opened(server_config(server)) as session:
        texts = ["a", "b", "c", "d"]
        results = await asyncio.gather(
            *(session.call_tool("echo", {"text": text}) for text in texts)
        )
    assert [text_of(result) for result in results] == texts


@on_loop
async def test_a_reply_of_20_megabytes() -> None:
    async with opened(server_config("peer")) as session:
        result = await session.call_tool("big", {"n": 20_000_000})
        assert len(text_of(result)) == 20_000_000
        assert text_of(await session.call_tool("echo", {"text": "still"})) == "still"


@on_loop
async def test_a_call_that_takes_too_long_is_cancelled_at_the_server_and_only_it() -> None:
    async with opened(server_config("peer")) as session:
        with pytest.raises(McpTimeout, match=r"did not answer tools/call within 0.2 s"):
            await session.call_tool("sleep", {"n": 0.6}, within=0.2)
        other = await session.call_tool("sleep", {"n": 0.8})
        assert text_of(other) == "slept"
        assert len((await seen_by(session))["cancelled"]) == 1
        assert session.alive


@on_loop
async def test_a_cancelled_call_is_cancelled_at_the_server() -> None:
    async with opened(server_config("peer")) as session:
        call = asyncio.ensure_future(session.call_tool("sleep", {"n": 30}))
        await session.ping()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert len((await seen_by(session))["cancelled"]) == 1


@on_loop
async def test_progress_extends_a_call() -> None:
    news: list[Progress] = []
    async with opened(server_config("peer")) as session:
        call = session.call_tool("progress", {"n": 15}, within=1.0, on_progress=news.append)
        assert text_of(await call) == "done"
    assert [each.progress for each in news] == [float(n) for n in range(1, 16)]
    assert (news[0].total, news[0].message) == (15.0, "on")


@on_loop
async def test_progress_extends_a_call_no_further_than_the_ceiling() -> None:
    async with opened(server_config("peer", ceiling=1.0)) as session:
        with pytest.raises(McpTimeout, match=r"0.5 s without progress, or 1 s in all"):
            await session.call_tool("progress", {"n": 600}, within=0.5)


@on_loop
async def test_a_late_answer_is_nobodys() -> None:
    async with opened(server_config("peer")) as session:
        with pytest.raises(McpTimeout):
            await session.call_tool("sleep", {"n": 0.3}, within=0.1)
        texts = [str(number) for number in range(50)]
        for text in texts:
            await asyncio.sleep(0.01)
            assert text_of(await session.call_tool("echo", {"text": text})) == text


# -- the end ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("server", ["peer", "modern"])
@on_loop
async def test_calls_in_flight_end_with_the_server(server: str) -> None:
    heard = Heard()
    async with opened(server_config(server), events=heard.events) as session:
        sleeping = asyncio.ensure_future(session.call_tool("sleep", {"n": 30}))
        await session.ping()
        with pytest.raises(McpConnectionLost, match=r"exited with status 3.*I die") as lost:
            await session.call_tool("die", {})
        assert lost.value.sent
        with pytest.raises(McpConnectionLost):
            await sleeping
        assert not session.alive
        with pytest.raises(McpConnectionLost) as later:
            await session.call_tool("echo", {"text": "x"})
        assert not later.value.sent
    assert len(heard.losses) == 1


@on_loop
async def test_half_a_line_then_death() -> None:
    async with opened(server_config("half_a_line")) as session:
        with pytest.raises(McpConnectionLost, match="exited with status 1"):
            await session.call_tool("echo", {"text": "x"})


@on_loop
async def test_a_server_that_hangs_is_given_up() -> None:
    heard = Heard()
    config = server_config("never_answers_calls", ping=0.3)
    async with opened(config, events=heard.events) as session:
        sleeping = asyncio.ensure_future(session.call_tool("echo", {"text": "y"}))
        with pytest.raises(McpTimeout):
            await session.call_tool("echo", {"text": "x"}, within=0.2)
        with pytest.raises(McpConnectionLost, match="taken for dead"):
            await sleeping
    assert len(heard.losses) == 1


@on_loop
async def test_an_idle_server_that_hangs_is_given_up() -> None:
    heard = Heard()
    config = server_config("never_answers_calls", ping=0.2, idle=0.2)
    async with opened(config, events=heard.events):
        while not heard.losses:
            await asyncio.sleep(0.02)


@on_loop
async def test_an_idle_server_that_answers_stays() -> None:
    heard = Heard()
    async with opened(server_config("peer", idle=0.1), events=heard.events) as session:
        await asyncio.sleep(0.6)
        assert session.alive
        assert text_of(await session.call_tool("echo", {"text": "x"})) == "x"
    assert not heard.losses


# -- what the server begins -------------------------------------------------------------------------


@on_loop
async def test_the_server_asks_for_roots_a_ping_and_something_else() -> None:
    config = replace(server_config("peer"), roots=("file:///tmp",))
    async with opened(config) as session:
        roots, ping, other = json.loads(text_of(await session.call_tool("ask_roots", {})))
    assert roots["result"] == {"roots": [{"uri": "file:///tmp"}]}
    assert ping["result"] == {}
    assert other["error"]["code"] == -32601


@on_loop
async def test_roots_that_nobody_configured_are_refused() -> None:
    async with opened(server_config("peer")) as session:
        roots, _, _ = json.loads(text_of(await session.call_tool("ask_roots", {})))
    assert roots["error"]["code"] == -32601


@on_loop
async def test_changed_tools_are_told() -> None:
    heard = Heard()
    async with opened(server_config("changes"), events=heard.events) as session:
        await session.call_tool("tool_0", {})
        assert heard.changes == 1
        assert [tool["name"] for tool in await session.list_tools()] == ["pid", "tool_1"]


@on_loop
async def test_a_modern_server_tells_on_its_stream() -> None:
    heard = Heard()
    async with opened(server_config("modern"), events=heard.events) as session:
        await session.call_tool("change", {})
        assert heard.changes == 1


@on_loop
async def test_a_flood_of_notifications_delays_nobodys_answer() -> None:
    heard = Heard()
    async with opened(server_config("floods"), events=heard.events) as session:
        assert text_of(await session.call_tool("echo", {"text": "x"})) == "x"
    assert heard.changes == 10_000


# -- questions --------------------------------------------------------------------------------------


@on_loop
async def test_input_is_given_by_a_hook() -> None:
    async def elicit(params: dict[str, Any]) -> dict[str, Any]:
        return {"action": "accept", "content": {"asked": params["message"]}}

    async with opened(server_config("modern"), hooks=McpHooks(elicit=elicit)) as session:
        said = json.loads(text_of(await session.call_tool("ask", {})))
        with pytest.raises(McpProtocolError, match="still wants input for tools/call after 10"):
            await session.call_tool("endless", {})
    answer = {"action": "accept", "content": {"asked": "name?"}}
    assert said == {"state": "st\u00e4te", "answers": {"q": answer}}


@on_loop
async def test_input_that_nobody_gives_is_refused() -> None:
    async def refuse(_: dict[str, Any]) -> dict[str, Any]:
        raise Refusal(-1, "not today")

    async with opened(server_config("modern")) as session:
        with pytest.raises(McpRefused, match="wants input for tools/call that nobody here gives"):
            await session.call_tool("ask", {})
    async with opened(server_config("modern"), hooks=McpHooks(elicit=refuse)) as session:
        with pytest.raises(McpRefused, match="not today"):
            await session.call_tool("ask", {})


# -- lists ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("args", [(), ("endless",)])
@on_loop
async def test_ten_thousand_tools_on_pages(args: tuple[str, ...]) -> None:
    async with opened(server_config("pages", *args)) as session:
        tools = await session.list_tools()
    assert [tool["name"] for tool in tools] == [f"tool_{number:05}" for number in range(10_000)]


@on_loop
async def test_odd_entries_of_a_list_are_left_out() -> None:
    async with opened(server_config("odd_tools")) as session:
        tools = await session.list_tools()
    assert [tool for tool in tools if tool.get("name") == "bare"] == [{"name": "bare"}]
    assert all(isinstance(tool, dict) for tool in tools)


@on_loop
async def test_a_server_that_hangs_is_killed_without_waiting() -> None:
    session = new_session(server_config("peer", ping=0.2, shutdown=20.0))
    await session.open()
    pid = session.transport.pid  # type: ignore[attr-defined]
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(McpTimeout):
        await session.call_tool("echo", {"text": "x"}, within=0.2)
    async with asyncio.timeout(10):
        while session.alive:
            await asyncio.sleep(0.02)
        await session.aclose()
