"""`greenroom mcp serve`: our tools, or an agent that has them, as an MCP server on standard input and output."""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import Future
from typing import Any, Final

from actors.agent.agent import Agent
from actors.agent.ref import AgentRef
from actors.agent.served import AgentOffer
from actors.cli.approving import AlwaysApprove
from actors.cli.exit_code import ExitCode
from actors.cli.options import add_making_options, text_from
from actors.cli.planning import plan_from
from actors.cli.protocol_streams import protocol_streams
from actors.cli.session import SessionPlan, join_servers
from actors.cli.tool_loading import current_directory, importing_from, load_tools
from actors.errors import InvalidArgument
from actors.mcp.served_offer import Offer, ToolOffer
from actors.mcp.served_pipes import PipeTransport
from actors.mcp.server import McpServer
from actors.tools.allow_store import AllowStore
from actors.tools.names import is_sendable
from runtime import Actor, ActorSystem

_NAME: Final = "ask"
_DESCRIPTION: Final = "Ask an agent, which uses tools of its own, and get its answer."
_OF_THE_AGENT: Final = (
    ("provider", "--provider"),
    ("base_url", "--base-url"),
    ("model", "--model"),
    ("stream", "--stream"),
    ("max_steps", "--max-steps"),
    ("system", "--system"),
    ("mcp", "--mcp"),
    ("mcp_command", "--mcp-command"),
    ("mcp_config", "--mcp-config"),
    ("name", "--name"),
    ("description", "--description"),
)


def add_serve_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `greenroom mcp serve` to the command line."""
    parser = subparsers.add_parser(
        "serve",
        usage="greenroom mcp serve --tools MODULE:NAME [--yes]\n"
        "       greenroom mcp serve --agent [options]",
        help="be a server: offer tools, or an agent, to another program",
        description="Offer tools to the program that started this one, as an MCP server on standard input "
        "and output. With --agent one tool is offered, which asks an agent; --tools and --mcp "
        "are the agent's then.",
    )
    add = parser.add_argument
    add("--agent", action="store_true", help="offer one tool that asks an agent")
    add("--name", metavar="NAME", help=f"what that tool is called (default {_NAME})")
    add("--description", metavar="TEXT", help="what it is good for, for the model that calls it")
    add_making_options(parser)
    parser.set_defaults(json_events=False, quiet=True)


def serve(args: argparse.Namespace) -> ExitCode:
    """Serve until the client closes our standard input; ANSWERED then.

    Raises:
        InvalidArgument, MCPRegistryError: an option, a tool, or one of the agent's servers is wrong.
        ToolExists: two tools have one name.
        LocalModelError: the local model is not on this machine.
    """
    _require_sense(args)
    over: Future[None] = Future()
    with (
        protocol_streams() as (read_fd, write_fd),
        importing_from(current_directory()),
        ActorSystem() as system,
    ):
        offer = _agent_offer(args, system) if args.agent else _tool_offer(args, system)
        system.spawn(
            McpServer,
            lambda: PipeTransport("the client", read_fd, write_fd),
            offer,
            over,
            name="mcp-server",
        )
        over.result()
    return ExitCode.ANSWERED


def _require_sense(args: argparse.Namespace) -> None:
    if args.agent:
        name = text_from(args.name or _NAME)
        if not is_sendable(name):
            raise InvalidArgument(
                f"--name expects 1 to 64 letters, digits, '_' or '-', got {name!r}"
            )
        return
    if not args.tools:
        raise InvalidArgument("nothing to serve; say --tools module:name, or --agent, or both")
    without = [option for field, option in _OF_THE_AGENT if getattr(args, field)]
    if without:
        raise InvalidArgument(f"{', '.join(without)} would need an agent: add --agent")


def _tool_offer(args: argparse.Namespace, system: ActorSystem) -> Offer:
    offer = ToolOffer(system, load_tools(args.tools), AlwaysApprove() if args.yes else None)
    if offer.withheld:
        print(
            f"greenroom: not offered, since they need approval: {', '.join(offer.withheld)}; "
            "--yes offers them, and their approval is the client's business then",
            file=sys.stderr,
        )
    return offer


class _User(Actor):
    """Uses the servers of all agents, so that they need not be begun anew for each call."""

    def on_signal(self, signal: Any) -> None:
        """Their tools have changed, which concerns the agents."""


def _agent_offer(args: argparse.Namespace, system: ActorSystem) -> Offer:
    plan = plan_from(args, sys.stderr)
    join_servers(system, system.spawn(_User, name="servers-user"), plan.servers)
    name = text_from(args.name or _NAME)
    return AgentOffer(
        lambda: _agent(system, plan), name, text_from(args.description or _DESCRIPTION)
    )


def _agent(system: ActorSystem, plan: SessionPlan) -> AgentRef:
    return Agent.spawn(
        system,
        plan.config,
        tools=plan.tools,
        system_prompt=plan.system_prompt,
        approver=plan.approver,
        allow_store=AllowStore(),
        mcp_servers=plan.servers,
    )
