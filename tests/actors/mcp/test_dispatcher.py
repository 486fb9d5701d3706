"""`Dispatcher`: two of them, face to face, without a server."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import structlog

from actors.errors import (
    InvalidArgument,
    McpConnectionLost,
    McpProtocolError,
    McpRefused,
    McpTimeout,
)
from actors.mcp.deadline import Deadline
from actors.mcp.dispatcher import Dispatcher, Handlers, Refusal
from actors.mcp.jsonrpc import Answer, Failure, Noise, Request, read_messages
from actors.mcp.transport import Outgoing, Receiver
from tests.actors.mcp.sessions import on_loop


class Wire:
    """A transport to another dispatcher of the same loop. `broken`: what the next send raises."""

    closing_cancels = False

    def __init__(self) -> None:
        self.other: Dispatcher
        self.receiver: Receiver
        self.broken: Exception | None = None
        self.sent: list[bytes] = []
        self.silent = False
        self.closed = 0

    async def open(self, receiver: Receiver) -> None:
        """Remember who."""
        self.receiver = receiver

    async def send(self, message: Outgoing) -> None:
        """Hand it over, soon."""
        if self.broken is not None:
            raise self.broken
        self.sent.append(message.body)
        if not self.silent:
            for each in read_messages(message.body):
                asyncio.get_running_loop().call_soon(self.other.received, each)

    def agreed(self, version: str, *, legacy: bool) -> None:
        """All the same."""

    def last_words(self) -> str:
        """None."""
        return ""

    def condemn(self) -> None:
        """All the same."""

    async def aclose(self) -> None:
        """Count it."""
        self.closed += 1


class Pair:
    """Ours, theirs, and their transports."""

    def __init__(self, ours: Handlers, theirs: Handlers) -> None:
        self.wire, self.back = Wire(), Wire()
        self.ours = Dispatcher("them", self.wire, ours)
        self.theirs = Dispatcher("us", self.back, theirs)
        self.wire.other, self.back.other = self.theirs, self.ours

    async def __aenter__(self) -> Pair:
        await self.ours.open()
        await self.theirs.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.ours.aclose()
        await self.theirs.aclose()


async def double(request: Request) -> Any:
    await asyncio.sleep(request.params.get("after", 0))
    return request.params["n"] * 2


async def refuse(_: Request) -> Any:
    raise Refusal(-5, "no", {"why": "so"})


async def crash(_: Request) -> Any:
    raise KeyError("gone")


THEIRS = Handlers(requests={"double": double, "refuse": refuse, "crash": crash})


def limit(seconds: float = 20.0) -> Deadline:
    return Deadline(seconds)


@on_loop
async def test_requests_find_their_answers_in_any_order() -> None:
    async with Pair(Handlers(), THEIRS) as pair:
        asked = [{"n": n, "after": (10 - n) / 200} for n in range(10)]
        answers = await asyncio.gather(
            *(pair.ours.request("double", params, limit()) for params in asked)
        )
        assert answers == [2 * n for n in range(10)]
        assert pair.ours.in_flight == 0


@on_loop
async def test_what_the_other_side_refuses() -> None:
    async with Pair(Handlers(), THEIRS) as pair:
        with pytest.raises(McpRefused, match=r"them refused: no \(code -5\)") as refused:
            await pair.ours.request("refuse", {}, limit())
        assert (refused.value.code, refused.value.data) == (-5, {"why": "so"})
        with pytest.raises(McpRefused, match="'nothing' is not offered here") as unknown:
            await pair.ours.request("nothing", {}, limit())
        assert unknown.value.code == -32601
        with structlog.testing.capture_logs() as logs, pytest.raises(McpRefused) as crashed:
            await pair.ours.request("crash", {}, limit())
        assert crashed.value.code == -32603
        assert logs[0]["log_level"] == "error"


def endless() -> list[Any]:
    """A list that holds itself."""
    loop: list[Any] = []
    loop.append(loop)
    return loop


@pytest.mark.parametrize(
    "bad",
    [object(), "\ud800", {(1, 2): 3}, 1 << 20_000, endless()],
    ids=["object", "surrogate", "key", "long", "endless"],
)
def test_what_json_cannot_hold_is_not_sent(bad: Any) -> None:
    @on_loop
    async def case() -> None:
        async with Pair(Handlers(), THEIRS) as pair:
            with pytest.raises(InvalidArgument, match="double to them cannot be sent: its param"):
                await pair.ours.request("double", {"n": bad}, limit())
            assert (pair.wire.sent, pair.ours.in_flight) == ([], 0)
            assert await pair.ours.request("double", {"n": 4}, limit()) == 8

    case()


@on_loop
async def test_both_sides_ask_at_once_with_the_same_ids() -> None:
    async with Pair(THEIRS, THEIRS) as pair:
        ours = pair.ours.request("double", {"n": 1, "after": 0.01}, limit())
        theirs = pair.theirs.request("double", {"n": 2, "after": 0.01}, limit())
        assert list(await asyncio.gather(ours, theirs)) == [2, 4]


@on_loop
async def test_a_deadline_abandons_the_request_and_its_answer() -> None:
    abandoned: list[tuple[int, str]] = []
    ours = Handlers(abandoned=lambda number, method: abandoned.append((number, method)))
    async with Pair(ours, THEIRS) as pair:
        with pytest.raises(McpTimeout, match=r"them did not answer double within 0.01 s"):
            await pair.ours.request("double", {"n": 1, "after": 0.05}, limit(0.01))
        assert abandoned == [(1, "double")]
        await asyncio.sleep(0.1)  # the late answer comes, and is nobody's
        assert await pair.ours.request("double", {"n": 3}, limit()) == 6


@on_loop
async def test_a_cancel_abandons_the_request() -> None:
    abandoned: list[int] = []
    ours = Handlers(abandoned=lambda number, _: abandoned.append(number))
    async with Pair(ours, THEIRS) as pair:
        request = asyncio.ensure_future(pair.ours.request("double", {"n": 1, "after": 9}, limit()))
        await asyncio.sleep(0)
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request
        assert abandoned == [1]


@on_loop
async def test_a_loss_fails_all_that_wait_and_all_that_come() -> None:
    losses: list[McpConnectionLost] = []
    async with Pair(Handlers(lost=losses.append), THEIRS) as pair:
        waiting = [
            asyncio.ensure_future(pair.ours.request("double", {"n": n, "after": 9}, limit()))
            for n in range(3)
        ]
        await asyncio.sleep(0)
        pair.ours.lost(McpConnectionLost("they fell"))
        for each in waiting:
            with pytest.raises(McpConnectionLost, match="they fell") as lost:
                await each
            assert lost.value.sent
        with pytest.raises(McpConnectionLost, match="they fell") as later:
            await pair.ours.request("double", {"n": 1}, limit())
        assert not later.value.sent
        with pytest.raises(McpConnectionLost, match="they fell"):
            await pair.ours.notify("x", {})
        assert len(losses) == 1


@on_loop
async def test_what_the_transport_raises_reaches_the_one_who_asked() -> None:
    async with Pair(Handlers(), THEIRS) as pair:
        for error in (McpConnectionLost("full", sent=False), McpProtocolError("html", status=502)):
            pair.wire.broken = error
            with pytest.raises(type(error), match=str(error)):
                await pair.ours.request("double", {"n": 1}, limit())
        pair.wire.broken = None
        assert await pair.ours.request("double", {"n": 1}, limit()) == 2


@on_loop
async def test_answers_to_nobody_and_noise_are_skipped() -> None:
    async with Pair(Handlers(), THEIRS) as pair:
        with structlog.testing.capture_logs() as logs:
            for odd in (
                Answer(77, 1),
                Answer("x", 1),
                Failure(None, 1, "odd"),
                Noise("a"),
                Noise("b"),
            ):
                pair.ours.received(odd)
        assert [each["log_level"] for each in logs] == [
            "debug",
            "debug",
            "warning",
            "warning",
            "debug",
        ]
        assert await pair.ours.request("double", {"n": 1}, limit()) == 2


@on_loop
async def test_a_request_of_theirs_that_is_withdrawn_is_not_answered() -> None:
    async with Pair(Handlers(), THEIRS) as pair:
        pair.back.silent = True
        pair.theirs.received(Request(5, "double", {"n": 1, "after": 30}))
        await asyncio.sleep(0)
        pair.theirs.withdraw(5)
        pair.theirs.withdraw("unknown")
        await asyncio.sleep(0.01)
        assert pair.back.sent == []


@on_loop
async def test_an_id_in_use_is_refused() -> None:
    async with Pair(Handlers(), THEIRS) as pair:
        pair.back.silent = True
        for _ in range(2):
            pair.theirs.received(Request(5, "double", {"n": 1, "after": 0.01}))
        await asyncio.sleep(0.1)
        messages = [message for body in pair.back.sent for message in read_messages(body)]
        assert [type(each) for each in messages] == [Failure, Answer]


@on_loop
async def test_closing_ends_its_work_and_what_waits() -> None:
    pair = Pair(Handlers(), THEIRS)
    async with pair:
        ended = asyncio.Event()

        async def work() -> None:
            try:
                await asyncio.sleep(60)
            finally:
                ended.set()

        pair.ours.start(work())
        waiting = asyncio.ensure_future(pair.ours.request("double", {"n": 1, "after": 9}, limit()))
        await asyncio.sleep(0)
        await pair.ours.aclose()
        assert ended.is_set()
        with pytest.raises(McpConnectionLost, match="the connection to them was closed"):
            await waiting
    assert pair.wire.closed == 2


@on_loop
async def test_a_deadline_is_extended_up_to_its_ceiling() -> None:
    deadline = Deadline(0.1, ceiling=0.3)
    loop = asyncio.get_running_loop()
    began = loop.time()
    with pytest.raises(TimeoutError):
        async with deadline:
            while True:
                await asyncio.sleep(0.02)
                deadline.extend()
    assert deadline.expired
    assert loop.time() - began >= 0.29
    deadline.extend()  # too late: nothing happens


@on_loop
async def test_a_deadline_without_end() -> None:
    async with Deadline(float("inf")) as deadline:
        deadline.extend()
        await asyncio.sleep(0)
    assert not deadline.expired


@on_loop
async def test_a_request_that_could_not_be_sent_says_so_though_the_connection_ended_meanwhile() -> (
    None
):
    class Ending(Wire):
        async def send(self, message: Outgoing) -> None:
            self.receiver.lost(McpConnectionLost("gone", sent=True))
            raise McpConnectionLost("gone", sent=False)

    ours = Dispatcher("them", Ending(), Handlers())
    await ours.open()
    with pytest.raises(McpConnectionLost) as caught:
        await ours.request("double", {"n": 1}, limit())
    assert not caught.value.sent
    await ours.aclose()
