"""`python -m tests.benchmarks.http_path`: what one model call costs on its way through HTTP.

CPU microseconds of the client per POST to a server that answers at once, in a process of its own: one
call after another, and 100 in flight. Rows: aiohttp by hand (the floor), httpx-aiohttp where it is
installed, our HTTP alone, and our whole path from a ModelRequest to a ModelReply. The subjects take
turns round by round, and the median round of each counts, so that a busy moment hits them all.
`--quick` does less of everything.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, contextmanager
from importlib.util import find_spec

import aiohttp
import msgspec
from msgspec import Raw

from actors.model.completion import encode_request
from actors.model.http import ModelHttp
from actors.model.openai import OpenAIProvider
from actors.model.provider import ModelRequest
from actors.testing import ScriptedModelServer, answer

IN_FLIGHT = (1, 100)
FLOOR = "aiohttp by hand"
Call = Callable[[], Awaitable[object]]
Subject = Callable[[str], AbstractAsyncContextManager[Call]]

_MESSAGE = Raw(msgspec.json.encode({"role": "user", "content": "why is the sky blue? " * 20}))
_REQUEST = ModelRequest("m", (_MESSAGE,) * 4, max_tokens=512, temperature=0.7)
_BODY = encode_request(_REQUEST, stream=False)
_HEADERS = {"content-type": "application/json", "authorization": "Bearer some-key"}


@asynccontextmanager
async def by_hand(base_url: str) -> AsyncIterator[Call]:
    """What a careful user of aiohttp writes, decoding included."""
    url = f"{base_url}/chat/completions"
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def call() -> object:
            async with session.post(url, data=_BODY, headers=_HEADERS) as response:
                return msgspec.json.decode(await response.read())

        yield call


@asynccontextmanager
async def httpx_aiohttp(base_url: str) -> AsyncIterator[Call]:
    """The package of that name, used as its page says."""
    from httpx_aiohttp import HttpxAiohttpClient  # noqa: PLC0415  may not be installed

    url = f"{base_url}/chat/completions"
    async with HttpxAiohttpClient() as client:

        async def call() -> object:
            reply = await client.post(url, content=_BODY, headers=_HEADERS)
            return msgspec.json.decode(reply.content)

        yield call


@asynccontextmanager
async def our_http(base_url: str) -> AsyncIterator[Call]:
    """`ModelHttp.post`, and the decoding the rows above have."""
    url = f"{base_url}/chat/completions"
    async with aclosing(ModelHttp()) as http:

        async def call() -> object:
            return msgspec.json.decode((await http.post(url, _BODY, _HEADERS)).body)

        yield call


@asynccontextmanager
async def our_path(base_url: str) -> AsyncIterator[Call]:
    """`OpenAIProvider.generate`: encode the request, send it, read the reply."""
    async with aclosing(ModelHttp()) as http:
        provider = OpenAIProvider(http, base_url, api_key="some-key")
        yield lambda: provider.generate(_REQUEST)


async def cpu_us(subject: Subject, base_url: str, calls: int, in_flight: int) -> float:
    """CPU microseconds per call, after one warm call for each that will be in flight."""
    async with subject(base_url) as call:

        async def several(count: int) -> None:
            for _ in range(count):
                await call()

        async def spread(count: int) -> None:
            await asyncio.gather(*(several(count // in_flight) for _ in range(in_flight)))

        await spread(in_flight)
        begun = time.process_time()
        await spread(calls)
        return (time.process_time() - begun) / calls * 1e6


def subjects() -> dict[str, Subject]:
    """The rows of the table; the first is the floor."""
    rows: dict[str, Subject] = {FLOOR: by_hand}
    if find_spec("httpx_aiohttp") is not None:
        rows["httpx-aiohttp"] = httpx_aiohttp
    return rows | {"our HTTP": our_http, "our whole path": our_path}


@contextmanager
def server_process() -> Iterator[str]:
    """The scripted server in a process of its own; gives its base URL."""
    command = [sys.executable, "-m", "tests.benchmarks.http_path", "--serve"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.stdin.close()


def serve() -> None:
    """Answer every request the same until stdin ends."""
    reply = answer("because blue light is scattered more. " * 8)
    with ScriptedModelServer(lambda _request: reply) as server:
        print(server.base_url, flush=True)
        sys.stdin.read()


def measure(base_url: str, *, rounds: int, calls: int) -> dict[tuple[str, int], float]:
    """The median CPU microseconds of each subject at each number in flight."""
    found: dict[tuple[str, int], list[float]] = {}
    for _ in range(rounds):
        for in_flight in IN_FLIGHT:
            for name, subject in subjects().items():
                cost = asyncio.run(cpu_us(subject, base_url, calls, in_flight))
                found.setdefault((name, in_flight), []).append(cost)
    return {key: statistics.median(costs) for key, costs in found.items()}


def table(costs: dict[tuple[str, int], float]) -> str:
    """Costs and their ratio to the floor, as Markdown."""
    heads = [f"{n} in flight | ratio" for n in IN_FLIGHT]
    lines = [f"| CPU us per call | {' | '.join(heads)} |", "|---" * 5 + "|"]
    for name in subjects():
        cells = [
            f"{costs[name, n]:.0f} | {costs[name, n] / costs[FLOOR, n]:.2f}" for n in IN_FLIGHT
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.http_path")
    parser.add_argument("--quick", action="store_true", help="less of everything")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
        return
    with server_process() as base_url:
        rounds, calls = (3, 400) if options.quick else (7, 1000)
        print(table(measure(base_url, rounds=rounds, calls=calls)))


if __name__ == "__main__":
    main()
