"""A tool that runs only after somebody agreed, and what happens where nobody can be asked.

A scripted server on loopback stands in for a model that wants to erase files.
"""

from __future__ import annotations

from typing import Any

from actors import Agent, AgentConfig, Approval, Approver, CallbackApprover, ToolPolicy, tool
from actors.testing import ScriptedModelServer, answer
from runtime import ActorSystem

SCRIPT = [
    answer('{"tool": "erase", "tool_args": {"path": "old.txt"}}'),
    answer('{"tool": "erase", "tool_args": {"path": "thesis.txt"}}'),
    answer('{"answer": "I did what I was allowed to."}'),
]


@tool(policy=ToolPolicy.CONFIRM)
def erase(path: str) -> str:
    """Erase a file."""
    print(f"  erased {path}")  # this example has no file to lose
    return "done"


def only_old_files(name: str, args: Any) -> Approval:
    """Decide about one call; it may block, since it runs on a thread of its own."""
    decision = Approval.ALLOW_ONCE if args["path"].startswith("old") else Approval.DENY
    print(f"  asked about {name}({args['path']}): {decision.value}")
    return decision


def clean_up(approver: Approver | None) -> None:
    """One agent, one question."""
    with ScriptedModelServer(SCRIPT) as server, ActorSystem() as system:
        config = AgentConfig(provider="openai", base_url=server.base_url, model="any")
        agent = Agent.spawn(system, config, tools=[erase], approver=approver)
        print(f"  {agent.process_query('Clean up, please.').result}")


def main() -> None:
    """With somebody to ask, and without."""
    print("with an approver:")
    clean_up(CallbackApprover(only_old_files))
    print("with nobody to ask, so that every call is refused:")
    clean_up(None)


if __name__ == "__main__":
    main()
