"""A reply shown while it is written, and a turn that is ended early by leaving its stream.

A scripted server on loopback stands in for a model.
"""

from __future__ import annotations

import asyncio

from actors import Agent, AgentConfig, AgentRef, TurnResult
from actors.output.events import TokenReceived
from actors.testing import ScriptedModelServer, SSEReply, answer_chunks
from runtime import ActorSystem

SCRIPT = [
    SSEReply(answer_chunks("The ", "quick ", "brown ", "fox.")),
    SSEReply(answer_chunks("And ", "so ", "on", done=False), ending="silent"),
]


async def talk(agent: AgentRef) -> None:
    """Show a whole reply, and the beginning of one that never ends."""
    async for item in agent.astream("Say something."):
        if isinstance(item, TokenReceived):
            print(item.text, end="", flush=True)
        elif isinstance(item, TurnResult):
            print(f"  ({item.outcome})")
    tokens = 0
    async for item in agent.astream("And now something longer."):
        if isinstance(item, TokenReceived):
            print(item.text, end="", flush=True)
            tokens += 1
        if tokens == 3:
            break  # ends the turn and closes the connection
    print("  (left)")


def main() -> None:
    """Stream two questions."""
    with ScriptedModelServer(SCRIPT) as server, ActorSystem() as system:
        config = AgentConfig(
            provider="openai", base_url=server.base_url, model="any", streaming=True
        )
        asyncio.run(talk(Agent.spawn(system, config)))


if __name__ == "__main__":
    main()
