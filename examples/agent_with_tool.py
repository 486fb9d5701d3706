"""An agent that answers a question with a tool of yours.

No model is needed to run this: a scripted server on loopback stands in for one. With a real model, leave the
server out and write `AgentConfig(provider="local")`, or the address of any OpenAI-compatible server.
"""

from __future__ import annotations

from actors import Agent, AgentConfig, tool
from actors.testing import ScriptedModelServer, answer, tool_calls
from runtime import ActorSystem


@tool
def add(a: float, b: float) -> float:
    """Add two numbers.

    Args:
        a: the first number
        b: the second number
    """
    print(f"the tool runs: {a} + {b}")
    return a + b


SCRIPT = [
    tool_calls(("call_1", "add", '{"a": 12.5, "b": 30}')),
    answer("12.5 plus 30 is 42.5."),
]


def main() -> None:
    """Ask one question."""
    with ScriptedModelServer(SCRIPT) as server, ActorSystem() as system:
        config = AgentConfig(
            provider="openai", base_url=server.base_url, model="any", native_tool_calls="always"
        )
        agent = Agent.spawn(system, config, tools=[add], system_prompt="You answer briefly.")
        result = agent.process_query("What is 12.5 plus 30?")
        print(f"{result.result} ({result.outcome} after {result.steps_taken} steps)")


if __name__ == "__main__":
    main()
