"""An agent with the tools of an MCP server, which is killed between two questions and comes back.

The server is greenroom itself (`greenroom mcp serve`), offering two functions of this file; any other MCP
server is used in the same way. A scripted server on loopback stands in for a model.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from pathlib import Path

from actors import Agent, AgentConfig, Approval, CallbackApprover, StdioServer
from actors.testing import ScriptedModelServer, answer
from runtime import ActorSystem

SCRIPT = [
    answer('{"tool": "mcp_here_process_id", "tool_args": {}}'),
    answer('{"answer": "The server runs."}'),
    answer('{"tool": "mcp_here_shout", "tool_args": {"text": "back again"}}'),
    answer('{"answer": "It is back."}'),
]
RUN = [sys.executable, "-m", "actors.cli", "mcp", "serve", "--tools", "mcp_server:TOOLS"]


def process_id() -> int:
    """Tell which process runs the tools."""
    return os.getpid()


def shout(text: str) -> str:
    """Give the text back in capitals."""
    return text.upper()


TOOLS = [process_id, shout]


def main() -> None:
    """Two questions, and a murder between them."""
    server = StdioServer(RUN[0], tuple(RUN[1:]), cwd=str(Path(__file__).parent))
    with ScriptedModelServer(SCRIPT) as model, ActorSystem() as system:
        config = AgentConfig(provider="openai", base_url=model.base_url, model="any")
        allow = CallbackApprover(lambda name, args: Approval.ALLOW_ONCE)  # noqa: ARG005
        agent = Agent.spawn(system, config, approver=allow)
        agent.connect_mcp_server("here", server)
        print("tools:", ", ".join(spec.name for spec in agent.tools()))

        print(agent.process_query("Which process are you?").result)
        pid = int(re.findall(r"\d+", agent.history()[-2].content)[-1])
        os.kill(pid, signal.SIGKILL)
        print("killed it; its supervisor starts another one")

        print(agent.process_query("Shout something.").result)
        print(agent.history()[-2].content)


if __name__ == "__main__":
    main()
