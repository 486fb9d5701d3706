"""What a turn costs: `python -m tests.benchmarks.agent_turns [--quick]` prints a table.

CPU milliseconds of this process per turn, all threads, beside the same requests by hand on aiohttp, in
interleaved rounds with the model server in another process; then many agents at once on a slow model.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Callable

import aiohttp
import msgspec

from actors import Agent, AgentConfig, AgentRef, tool
from runtime import ActorSystem
from tests.benchmarks.model_process import model_process

CALLS = (0, 5)
ADD_SCHEMA = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Add two integers.",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
        },
    },
}


@tool
def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


@tool
async def aadd(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


def config_for(base_url: str) -> AgentConfig:
    """An agent's configuration for the scripted server."""
    return AgentConfig(
        provider="openai", base_url=base_url, model="m", native_tool_calls="always", max_history_messages=1
    )


async def turn_by_hand(session: aiohttp.ClientSession, url: str, calls: int) -> None:
    """The requests of one turn, written out."""
    messages: list[dict[str, object]] = [{"role": "user", "content": f"make {calls} calls"}]
    for step in range(calls + 1):
        body = {"model": "m", "messages": messages, "tools": [ADD_SCHEMA], "max_tokens": 4096}
        async with session.post(url, data=msgspec.json.encode(body)) as response:
            message = msgspec.json.decode(await response.read())["choices"][0]["message"]
        messages.append(message)
        for call in message.get("tool_calls") or ():
            arguments = msgspec.json.decode(call["function"]["arguments"])
            result = {"role": "tool", "tool_call_id": call["id"], "content": str(sum(arguments.values()))}
            messages.append(result)
        assert (step == calls) is not bool(message.get("tool_calls"))


def cpu_ms(work: Callable[[], None], turns: int) -> float:
    """CPU milliseconds per turn of what `work` does `turns` times."""
    before = time.process_time()
    work()
    return (time.process_time() - before) * 1000 / turns


def by_hand(base_url: str, calls: int, turns: int) -> float:
    """The floor: aiohttp and nothing else."""

    async def all_turns() -> None:
        async with aiohttp.ClientSession() as session:
            url = f"{base_url}/chat/completions"
            await turn_by_hand(session, url, calls)
            before = time.process_time()
            for _ in range(turns):
                await turn_by_hand(session, url, calls)
            nonlocal spent
            spent = (time.process_time() - before) * 1000 / turns

    spent = 0.0
    asyncio.run(all_turns())
    return spent


def by_agent(agent: AgentRef, calls: int, turns: int) -> float:
    """An agent asked from a thread."""

    def all_turns() -> None:
        for _ in range(turns):
            result = agent.process_query(f"make {calls} calls", timeout=60)
            assert result.outcome == "answered", result

    agent.process_query(f"make {calls} calls", timeout=60)
    return cpu_ms(all_turns, turns)


def crowd(base_url: str, agents: int) -> tuple[float, int]:
    """Wall seconds until `agents` agents have answered, and how many did."""
    with ActorSystem() as system:
        refs = [Agent.spawn(system, config_for(base_url), tools=[aadd_as_add()]) for _ in range(agents)]
        begin = time.perf_counter()
        replies = [ref.aprocess_query("make 1 calls") for ref in refs]
        answered = sum(reply.get(timeout=300).outcome == "answered" for reply in replies)
        return time.perf_counter() - begin, answered


def aadd_as_add() -> object:
    """The coroutine tool under the name the server calls."""
    return msgspec.structs.replace(aadd, spec=msgspec.structs.replace(aadd.spec, name="add"))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    turns, rounds = (20, 3) if quick else (100, 5)
    figures: dict[tuple[str, int], list[float]] = {}
    with model_process() as base_url, ActorSystem() as system:
        plain = Agent.spawn(system, config_for(base_url), tools=[add])
        fast = Agent.spawn(system, config_for(base_url), tools=[aadd_as_add()])
        for _ in range(rounds):
            for calls in CALLS:
                figures.setdefault(("by hand", calls), []).append(by_hand(base_url, calls, turns))
                figures.setdefault(("agent", calls), []).append(by_agent(plain, calls, turns))
                figures.setdefault(("agent, async tool", calls), []).append(by_agent(fast, calls, turns))
    print("| CPU ms per turn | by hand on aiohttp | agent | ratio | agent, async tool | ratio |")
    print("|---|---|---|---|---|---|")
    for calls in CALLS:
        hand, agent, quick_tool = (
            statistics.median(figures[subject, calls]) for subject in ("by hand", "agent", "agent, async tool")
        )
        title = "one answer" if not calls else f"{calls} tool calls"
        print(
            f"| {title} | {hand:.2f} | {agent:.2f} | {agent / hand:.2f} | {quick_tool:.2f} "
            f"| {quick_tool / hand:.2f} |"
        )
    with model_process(delay_s=0.2) as base_url:
        for agents in (10, 100, 1000):
            seconds, answered = crowd(base_url, agents)
            print(f"\n{agents} agents at once, 200 ms model, one tool call: {seconds:.2f} s, {answered} answered")


if __name__ == "__main__":
    main()
