"""What a turn costs: `python -m tests.benchmarks.agent_turns [--quick] [--uvloop]` prints two tables.

CPU milliseconds of this process per turn, all its threads, beside the same requests written by hand on
aiohttp: one answer, and five tool calls before it. The model server answers at once from a process of its
own. Both sides run on the same kind of event loop, asyncio's or with `--uvloop` that one; the subjects take
turns round by round, and the median round of each counts. An agent is asked from a thread, as a script
does. Its tool is a plain function, which needs a worker thread, or a coroutine, which does not.

This process keeps to one CPU meanwhile, and the server to the others. Left alone, the kernel moves threads
and server about, and by what it happens to choose a hand-over between threads costs 23 or 50 us, and the
same requests by hand 0.50 or 0.70 ms.

Then many agents at once, on a model that thinks for 200 ms, each with one tool call: 0.4 s would be ideal.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
import msgspec

from actors import Agent, AgentConfig, AgentRef, tool
from actors.protocol.native import tool_schemas
from runtime import ActorSystem
from runtime.clock import new_loop
from tests.benchmarks.harness import Measure, Ratio, Results, machine_facts, table
from tests.benchmarks.model_process import model_process

BY_HAND, AGENT, AGENT_ASYNC = "aiohttp by hand", "agent", "agent, async tool"
SUBJECTS = (BY_HAND, AGENT, AGENT_ASYNC)
RATIOS = (Ratio(AGENT, BY_HAND), Ratio(AGENT_ASYNC, BY_HAND))
TOOL_CALLS = {"turn_0": 0, "turn_5": 5}
MEASURES = {
    "turn_0": Measure("one answer", "CPU ms"),
    "turn_5": Measure("5 tool calls", "CPU ms"),
}
THINKING_S = 0.2
LIMIT_S = 300.0


@dataclass(frozen=True, slots=True)
class Size:
    """How much one run does: `turns` in each of `rounds`, and the `crowds` of agents at once."""

    rounds: int
    turns: int
    crowds: tuple[int, ...] = (10, 100, 1000)


FULL = Size(7, 100)
QUICK = Size(3, 40)


@tool
def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


@tool(name="add")
async def add_on_loop(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


SCHEMAS = tool_schemas([add.spec])


def config_for(base_url: str) -> AgentConfig:
    """An agent that speaks to the scripted server as the floor does, without a growing history."""
    return AgentConfig(
        provider="openai",
        base_url=base_url,
        model="m",
        native_tool_calls="always",
        max_history_messages=1,
    )


# -- the floor --------------------------------------------------------------------------------------


async def turn_by_hand(session: aiohttp.ClientSession, url: str, calls: int) -> None:
    """The requests of one turn and the calls of its tool, written out."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": question(calls)}]
    for step in range(calls + 1):
        body = {"model": "m", "messages": messages, "tools": SCHEMAS, "max_tokens": 4096}
        async with session.post(url, data=msgspec.json.encode(body)) as response:
            message = msgspec.json.decode(await response.read())["choices"][0]["message"]
        messages.append(message)
        wanted = message.get("tool_calls") or ()
        assert bool(wanted) is (step < calls)
        for call in wanted:
            total = sum(msgspec.json.decode(call["function"]["arguments"]).values())
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": str(total)})


def by_hand(base_url: str, calls: int, turns: int, *, uvloop: bool) -> float:
    """CPU milliseconds of a turn by hand, after one that opens the connection."""

    async def all_turns() -> float:
        async with aiohttp.ClientSession() as session:
            url = f"{base_url}/chat/completions"
            await turn_by_hand(session, url, calls)
            begun = time.process_time()
            for _ in range(turns):
                await turn_by_hand(session, url, calls)
            return (time.process_time() - begun) / turns * 1e3

    with asyncio.Runner(loop_factory=lambda: new_loop(uvloop)[0]) as runner:
        return runner.run(all_turns())


# -- agents -----------------------------------------------------------------------------------------


def question(calls: int) -> str:
    """What the scripted server is told: it asks for so many calls, then answers."""
    return f"make {calls} calls"


def by_agent(agent: AgentRef, calls: int, turns: int) -> float:
    """CPU milliseconds of an agent's turn, asked from this thread, after one that warms it up."""

    def turn() -> None:
        assert agent.process_query(question(calls), timeout=LIMIT_S).outcome == "answered"

    turn()
    begun = time.process_time()
    for _ in range(turns):
        turn()
    return (time.process_time() - begun) / turns * 1e3


def measure(base_url: str, size: Size, *, uvloop: bool) -> Results:
    """The costs of all subjects, round by round."""
    results = Results()
    with ActorSystem(uvloop=uvloop) as system:
        agents = {
            AGENT: Agent.spawn(system, config_for(base_url), tools=[add]),
            AGENT_ASYNC: Agent.spawn(system, config_for(base_url), tools=[add_on_loop]),
        }
        for _ in range(size.rounds):
            for key, calls in TOOL_CALLS.items():
                hand = by_hand(base_url, calls, size.turns, uvloop=uvloop)
                results.add(BY_HAND, {key: hand})
                for subject, agent in agents.items():
                    results.add(subject, {key: by_agent(agent, calls, size.turns)})
    return results


@contextmanager
def on_cpus(cpus: Iterable[int]) -> Iterator[None]:
    """Keep this thread to these CPUs, and the threads and processes that it starts meanwhile."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def measure_apart(size: Size, *, uvloop: bool) -> Results:
    """The same with a server of its own, this process on one CPU and the server on the others."""
    mine, *others = sorted(os.sched_getaffinity(0))
    with ExitStack() as stack:
        with on_cpus(others or [mine]):
            base_url = stack.enter_context(model_process())
        with on_cpus([mine]):
            return measure(base_url, size, uvloop=uvloop)


def crowd(base_url: str, agents: int, *, uvloop: bool) -> float:
    """Seconds until so many agents, each asked once at the same moment, have all answered."""
    with ActorSystem(uvloop=uvloop) as system:
        config = config_for(base_url)
        refs = [Agent.spawn(system, config, tools=[add_on_loop]) for _ in range(agents)]
        begun = time.perf_counter()
        replies = [ref.aprocess_query(question(1)) for ref in refs]
        outcomes = [reply.get(timeout=LIMIT_S).outcome for reply in replies]
        seconds = time.perf_counter() - begun
    assert outcomes == ["answered"] * agents, outcomes
    return seconds


def crowd_table(size: Size, *, uvloop: bool) -> str:
    """How long crowds take, as Markdown."""
    lines = ["| agents at once | s until all have answered | turns/s |", "| ---: | ---: | ---: |"]
    with model_process(THINKING_S) as base_url:
        for agents in size.crowds:
            seconds = crowd(base_url, agents, uvloop=uvloop)
            lines.append(f"| {agents:,} | {seconds:.2f} | {agents / seconds:,.0f} |")
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.agent_turns")
    parser.add_argument("--quick", action="store_true", help="less of everything")
    parser.add_argument("--uvloop", action="store_true", help="both sides on uvloop")
    options = parser.parse_args()
    size = QUICK if options.quick else FULL
    results = measure_apart(size, uvloop=options.uvloop)
    print(table(results, MEASURES, SUBJECTS, RATIOS), end="\n\n")
    print(crowd_table(size, uvloop=options.uvloop), end="\n\n")
    print(f"{'uvloop' if options.uvloop else 'asyncio'}; {machine_facts(size.rounds)}.")


if __name__ == "__main__":
    main()
