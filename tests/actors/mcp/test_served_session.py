"""What an MCP server of ours answers, message by message, over a transport that only keeps them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from actors.mcp.jsonrpc import read_messages
from actors.mcp.revisions import LEGACY, MODERN, PROTOCOL_VERSION
from actors.mcp.served_offer import Tell
from actors.mcp.served_session import CALLS_AT_ONCE, ServedSession
from actors.mcp.transport import Outgoing, Receiver
from tests.actors.mcp.sessions import on_loop

MODERN_META = {"_meta": {PROTOCOL_VERSION: MODERN[0]}}


class Kept:
    """Implements `Transport`: what is sent is kept; `say` is the client."""

    closing_cancels = False

    def __init__(self) -> None:
        self.sent: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.receiver: Receiver | None = None

    async def open(self, receiver: Receiver) -> None:
        self.receiver = receiver

    async def send(self, message: Outgoing) -> None:
        self.sent.put_nowait(msgspec.json.decode(message.body))

    def agreed(self, version: str, *, legacy: bool) -> None: ...

    def last_words(self) -> str:
        return ""

    def condemn(self) -> None: ...

    async def aclose(self) -> None: ...

    def say(self, data: bytes) -> None:
        """Bytes of the client."""
        assert self.receiver is not None
        for message in read_messages(data):
            self.receiver.received(message)


class Works:
    """Implements `Offer`: `tool` gives its arguments, `wait` waits, `fail` fails."""

    def __init__(self) -> None:
        self.cancelled = asyncio.Event()
        self.running = 0

    def tools(self) -> list[dict[str, Any]]:
        return [{"name": each, "inputSchema": {"type": "object"}} for each in ("t", "wait", "fail")]

    async def call(self, tool: str, arguments: dict[str, Any], tell: Tell) -> Any:
        if tool == "fail":
            return {"status": "error", "error": "it broke"}
        if tool == "wait":
            tell("waiting")
            self.running += 1
            try:
                await asyncio.Event().wait()
            finally:
                self.cancelled.set()
        tell("once")
        tell("twice")
        return arguments


class Client:
    """A served session, and its client."""

    def __init__(self, **more: Any) -> None:
        self.offer = Works()
        self.transport = Kept()
        self.session = ServedSession(
            "the client", self.transport, self.offer, lost=lambda _: None, **more
        )

    async def __aenter__(self) -> Client:
        await self.session.dispatcher.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.session.dispatcher.aclose()

    def say(self, method: str, identity: object = None, **params: Any) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        self.transport.say(
            msgspec.json.encode(message if identity is None else {**message, "id": identity})
        )

    async def heard(self) -> dict[str, Any]:
        async with asyncio.timeout(30):
            return await self.transport.sent.get()

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self.say(method, "q", **params)
        answer = await self.heard()
        assert answer["id"] == "q"
        return answer

    async def begin(self) -> None:
        await self.ask("initialize", protocolVersion=LEGACY[0])
        self.say("notifications/initialized")


def error_of(answer: dict[str, Any]) -> tuple[int, str]:
    """Code and text of an error answer."""
    return answer["error"]["code"], answer["error"]["message"]


# -- eras -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("revision", LEGACY)
@on_loop
async def test_a_legacy_client_gets_the_revision_it_asks_for(revision: str) -> None:
    async with Client(instructions="be kind") as client:
        result = (await client.ask("initialize", protocolVersion=revision))["result"]
        assert result["protocolVersion"] == revision
        assert result["capabilities"] == {"tools": {}}
        assert result["serverInfo"]["name"] == "greenroom"
        assert result["instructions"] == "be kind"


@pytest.mark.parametrize("revision", ["1999-01-01", MODERN[0], None, 7])
@on_loop
async def test_one_that_asks_for_another_gets_the_newest(revision: object) -> None:
    async with Client() as client:
        answer = await client.ask("initialize", protocolVersion=revision)
        assert answer["result"]["protocolVersion"] == LEGACY[0]


@pytest.mark.parametrize("params", [{}, MODERN_META])
@on_loop
async def test_a_modern_client_discovers(params: dict[str, Any]) -> None:
    async with Client() as client:
        result = (await client.ask("server/discover", **params))["result"]
        assert result["supportedVersions"] == [*MODERN, *LEGACY]
        assert result["resultType"] == "complete"


@pytest.mark.parametrize("method", ["server/discover", "tools/list", "tools/call"])
@on_loop
async def test_a_revision_that_is_not_spoken_is_refused_with_those_that_are(method: str) -> None:
    async with Client() as client:
        answer = await client.ask(method, _meta={PROTOCOL_VERSION: "2031-01-01"})
        assert error_of(answer) == (-32022, "revision '2031-01-01' is not spoken here")
        assert answer["error"]["data"] == {
            "supported": [*MODERN, *LEGACY],
            "requested": "2031-01-01",
        }


@on_loop
async def test_before_initialize_only_modern_requests_are_answered() -> None:
    async with Client() as client:
        code, text = error_of(await client.ask("tools/list"))
        assert code == -32600
        assert "tools/list came before initialize" in text
        assert (await client.ask("ping"))["result"] == {}
        assert "result" in await client.ask("tools/list", **MODERN_META)
        await client.begin()
        assert "result" in await client.ask("tools/list")


@on_loop
async def test_results_have_the_form_of_their_era() -> None:
    async with Client() as client:
        await client.begin()
        old = (await client.ask("tools/list"))["result"]
        new = (await client.ask("tools/list", **MODERN_META))["result"]
        assert old == {"tools": client.offer.tools()}
        assert new == {
            **old,
            "resultType": "complete",
            "ttlMs": 3_600_000,
            "cacheScope": "private",
        }


# -- requests ---------------------------------------------------------------------------------------


@on_loop
async def test_what_is_not_offered_is_refused() -> None:
    async with Client() as client:
        await client.begin()
        assert error_of(await client.ask("resources/list"))[0] == -32601
        assert error_of(await client.ask("tools/list", cursor="2"))[0] == -32602


@pytest.mark.parametrize("name", ["T", "", None, ["t"], {"t": 1}])
@on_loop
async def test_a_tool_that_is_not_there_is_refused_by_name(name: object) -> None:
    async with Client() as client:
        await client.begin()
        code, text = error_of(await client.ask("tools/call", name=name))
        assert code == -32602
        assert text == f"there is no tool {name!r}; the tools are: fail, t, wait"


@on_loop
async def test_a_call_is_answered() -> None:
    async with Client() as client:
        await client.begin()
        args = {"a": "\u00fc\u2764"}
        result = (await client.ask("tools/call", name="t", arguments=args))["result"]
        assert result["structuredContent"] == args
        assert (await client.ask("tools/call", name="t"))["result"]["structuredContent"] == {}


@on_loop
async def test_a_failed_call_and_bad_arguments_are_results() -> None:
    async with Client() as client:
        await client.begin()
        result = (await client.ask("tools/call", name="fail"))["result"]
        assert result == {"content": [{"type": "text", "text": "it broke"}], "isError": True}
        result = (await client.ask("tools/call", name="t", arguments=[1]))["result"]
        assert result["isError"]
        assert result["content"][0]["text"] == "arguments: expected an object, got list"


@on_loop
async def test_what_is_no_message_is_answered_as_such() -> None:
    async with Client() as client:
        client.transport.say(b'{"jsonrpc": ')
        answer = await client.heard()
        assert (answer["id"], answer["error"]["code"]) == (None, -32700)


@on_loop
async def test_a_batch_is_answered_one_by_one() -> None:
    async with Client() as client:
        await client.begin()
        one = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        client.transport.say(msgspec.json.encode([one, {**one, "id": 2}]))
        assert [(await client.heard())["id"], (await client.heard())["id"]] == [1, 2]


# -- progress and cancelling --------------------------------------------------------------------------


@pytest.mark.parametrize("token", ["p", 7])
@on_loop
async def test_progress_comes_before_the_answer(token: object) -> None:
    async with Client() as client:
        await client.begin()
        client.say("tools/call", 1, name="t", _meta={"progressToken": token})
        told = [await client.heard(), await client.heard()]
        assert [each["method"] for each in told] == ["notifications/progress"] * 2
        assert [each["params"] for each in told] == [
            {"progressToken": token, "progress": 1, "message": "once"},
            {"progressToken": token, "progress": 2, "message": "twice"},
        ]
        assert (await client.heard())["id"] == 1


@on_loop
async def test_without_a_token_there_is_none() -> None:
    async with Client() as client:
        await client.begin()
        assert "result" in await client.ask("tools/call", name="t")


@on_loop
async def test_a_call_that_says_nothing_is_told_to_run() -> None:
    async with Client(heartbeat_s=0.01) as client:
        await client.begin()
        client.say("tools/call", 1, name="wait", _meta={"progressToken": 1})
        told = [(await client.heard())["params"] for _ in range(3)]
        assert [each["progress"] for each in told] == [1, 2, 3]
        assert [each["message"] for each in told] == [
            "waiting",
            "running for 0.01 s",
            "running for 0.02 s",
        ]


@pytest.mark.parametrize("identity", [1, "one"])
@on_loop
async def test_a_cancelled_call_ends_and_is_not_answered(identity: object) -> None:
    async with Client() as client:
        await client.begin()
        client.say("tools/call", identity, name="wait", _meta={"progressToken": 1})
        await client.heard()
        client.say("notifications/cancelled", requestId=identity, reason="enough")
        async with asyncio.timeout(30):
            await client.offer.cancelled.wait()
        assert (await client.ask("ping"))["result"] == {}
        client.say("notifications/cancelled", requestId="unknown")
        client.say("notifications/cancelled", requestId=[identity])
        client.say("notifications/cancelled")
        assert (await client.ask("ping"))["result"] == {}


@on_loop
async def test_the_end_cancels_what_runs() -> None:
    async with Client() as client:
        await client.begin()
        client.say("tools/call", 1, name="wait", _meta={"progressToken": 1})
        await client.heard()
    assert client.offer.cancelled.is_set()


@on_loop
async def test_a_request_that_is_withdrawn_at_once_leaves_nothing() -> None:
    async with Client() as client:
        await client.begin()
        client.say("tools/call", 1, name="wait")
        client.say("notifications/cancelled", requestId=1)
        assert "result" in await client.ask("ping")
        assert client.session.dispatcher.answering == 0
        client.say("tools/call", 1, name="wait")
    assert client.session.dispatcher.answering == 0


@on_loop
async def test_too_many_calls_are_refused() -> None:
    async with Client() as client:
        await client.begin()
        for number in range(CALLS_AT_ONCE):
            client.say("tools/call", number, name="wait")
        await until(lambda: client.offer.running == CALLS_AT_ONCE)
        code, text = error_of(await client.ask("tools/call", name="t"))
        assert code == -32603
        assert text == "1000 calls are running; wait for one to end"
        assert (await client.ask("ping"))["result"] == {}


@on_loop
async def test_an_id_in_use_is_refused() -> None:
    async with Client() as client:
        await client.begin()
        client.say("tools/call", 1, name="wait")
        client.say("tools/call", 1, name="t")
        answer = await client.heard()
        assert (answer["id"], answer["error"]["code"]) == (None, -32600)


async def until(fact: Callable[[], bool]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(30):
        while not fact():
            await asyncio.sleep(0.001)
