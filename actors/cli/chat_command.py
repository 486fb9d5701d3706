"""`greenroom chat`: a conversation at the terminal, or line by line from a pipe."""

from __future__ import annotations

import argparse
import sys

from actors.cli.chat import Chat
from actors.cli.exit_code import ExitCode
from actors.cli.line_reader import TerminalLines, standard_lines
from actors.cli.options import add_agent_options
from actors.cli.planning import plan_from
from actors.cli.session import OpenSession
from actors.cli.standard_streams import output_stream
from actors.cli.tool_loading import current_directory, importing_from
from actors.output.console import Console


def add_chat_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `greenroom chat` to the command line."""
    parser = subparsers.add_parser(
        "chat",
        usage="greenroom chat [options]",
        help="talk with an agent that remembers",
        description="Talk with an agent; /help lists what it understands besides questions.",
    )
    add_agent_options(parser)


def chat(args: argparse.Namespace, open_session: OpenSession) -> ExitCode:
    """Talk until the user leaves.

    Raises:
        AgentError, RuntimeFault: there was no agent, or it ended.
        KeyboardInterrupt: Ctrl-C came twice during one turn.
    """
    # What a program reads holds nothing of the chat's own.
    alone = args.json_events or args.quiet
    console = Console(sys.stderr if alone else sys.stdout)
    lines = standard_lines()
    at_terminal = isinstance(lines, TerminalLines)
    with importing_from(current_directory()), output_stream(alone=alone) as out:
        plan = plan_from(args, out, shows_query=not at_terminal, requires_servers=False)
        with open_session(plan) as agent:
            talk = Chat(agent, lines, console, model=plan.config.model)
            if at_terminal:
                talk.say(f"model {talk.model}; /help lists commands, /exit leaves")
            talk.run()
    return ExitCode.ANSWERED
