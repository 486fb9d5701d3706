"""`greenroom run`: one question, one answer, an exit code."""

from __future__ import annotations

import argparse
import sys

from actors.agent.result import TurnResult
from actors.cli.exit_code import ExitCode, code_of
from actors.cli.interrupt import interrupts_cancel
from actors.cli.options import add_agent_options, text_from
from actors.cli.planning import plan_from
from actors.cli.session import OpenSession
from actors.cli.standard_streams import output_stream
from actors.cli.tool_loading import current_directory, importing_from
from actors.errors import InvalidArgument
from actors.output.console import Console


def add_run_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `greenroom run` to the command line."""
    parser = subparsers.add_parser(
        "run",
        usage="greenroom run [options] QUESTION",
        help="answer one question",
        description="Answer one question, with the help of tools.",
    )
    parser.add_argument("question", metavar="QUESTION", help="the question; - reads it from stdin")
    add_agent_options(parser)


def run(args: argparse.Namespace, open_session: OpenSession) -> ExitCode:
    """Ask the question of the options.

    Raises:
        AgentError, RuntimeFault: there was no agent, or no turn.
    """
    question = _question(args.question)
    alone = args.json_events or args.quiet
    with importing_from(current_directory()), output_stream(alone=alone) as out:
        plan = plan_from(args, out)
        with open_session(plan) as agent, interrupts_cancel(agent.cancel) as interrupts:
            result = agent.process_query(question)
    if result.outcome != "answered":
        _explain(result, shown=not args.quiet)
    return ExitCode.INTERRUPTED if interrupts.count else code_of(result.outcome)


def _question(argument: str) -> str:
    text = sys.stdin.read() if argument == "-" else text_from(argument)
    if not text.strip():
        raise InvalidArgument("the question is empty; write it after `greenroom run`, in quotes")
    return text.strip()


def _explain(result: TurnResult, *, shown: bool) -> None:
    """Tell on standard error what a quiet run did not print, and where to look for a model's failure."""
    console = Console(sys.stderr)
    if not shown:
        console.write(f"greenroom: {result.result}\n")
    if result.outcome == "model_error":
        console.write(
            "greenroom: `greenroom doctor` tells which model servers answer; for a small model on this "
            "machine: --provider local\n"
        )
