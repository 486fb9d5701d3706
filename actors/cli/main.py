"""The command `greenroom`: reads the command line, runs one subcommand, returns its exit code.

It is the one place where errors become words for a person: what was wrong, on standard error, and an exit
code. Tracebacks are shown with `--debug` only.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress

from actors.cli.chat_command import add_chat_parser, chat
from actors.cli.doctor import add_doctor_parser, doctor
from actors.cli.exit_code import ExitCode
from actors.cli.installation import greenroom_version
from actors.cli.logs import send_logs_to_stderr
from actors.cli.mcp_command import add_mcp_parser, run_mcp
from actors.cli.memory_command import add_memory_parser, run_memory
from actors.cli.model_command import add_model_parser, run_model
from actors.cli.run_command import add_run_parser, run
from actors.cli.session import OpenSession, open_agent
from actors.cli.standard_streams import forget_lost_output, prepare_streams
from actors.cli.termination import Terminated, terminable
from actors.cli.waking import signals_wake
from actors.errors import InvalidArgument, LocalModelError, MCPRegistryError, ToolExists
from actors.output.console import Console

EPILOGUE = """\
Any OpenAI-compatible server:    greenroom run --base-url URL --model NAME "..."
A small model on this machine:   greenroom model pull
                                 greenroom run --provider local "..."
What each command takes:         greenroom run --help

exit codes: 0 answered, 1 no answer, 2 wrong usage, 3 no model, 130 interrupted,
143 terminated
"""


def entry_point() -> int:
    """The console script: real standard streams, any bytes in them."""
    prepare_streams()
    code = main(sys.argv[1:])
    forget_lost_output()
    return int(code)


def main(argv: Sequence[str], *, open_session: OpenSession = open_agent) -> int:
    """Run the command line `argv` (without the program's name) and return the exit code.

    Never raises for what a user can cause. `open_session` makes the agent.
    """
    try:
        args = build_parser().parse_args(argv)
    except SystemExit as ended:  # argparse has said why: 0 after --help, 2 after a mistake
        return ended.code if isinstance(ended.code, int) else ExitCode.WRONG_USE
    debug = getattr(args, "debug", False)
    send_logs_to_stderr(debug=debug)
    try:
        with signals_wake(), terminable():
            return _dispatch(args, open_session)
    except KeyboardInterrupt:
        _say("interrupted")
        return ExitCode.INTERRUPTED
    except Terminated:
        _say("terminated")
        return ExitCode.TERMINATED
    except Exception as error:  # noqa: BLE001  the rim: reported, with its exit code
        if debug:
            traceback.print_exc()
        _say(f"error: {str(error) or type(error).__name__}")
        return _code_of(error)


def build_parser() -> argparse.ArgumentParser:
    """The whole command line."""
    parser = argparse.ArgumentParser(
        prog="greenroom",
        usage="greenroom COMMAND [options]",
        description="Run LLM agents that use tools, each an actor that waits until it is called.",
        epilog=EPILOGUE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"greenroom {greenroom_version()}")
    subparsers = parser.add_subparsers(
        prog="greenroom", dest="command", metavar="COMMAND", required=True
    )
    add_run_parser(subparsers)
    add_chat_parser(subparsers)
    add_model_parser(subparsers)
    add_mcp_parser(subparsers)
    add_memory_parser(subparsers)
    add_doctor_parser(subparsers)
    return parser


def _dispatch(args: argparse.Namespace, open_session: OpenSession = open_agent) -> int:
    match args.command:
        case "run":
            return run(args, open_session)
        case "chat":
            return chat(args, open_session)
        case "model":
            return run_model(args)
        case "mcp":
            return run_mcp(args)
        case "memory":
            return run_memory(args)
        case _:
            return doctor(args)


def _code_of(error: Exception) -> ExitCode:
    if isinstance(error, LocalModelError):
        return ExitCode.NO_MODEL
    if isinstance(error, InvalidArgument | MCPRegistryError | ToolExists):
        return ExitCode.WRONG_USE
    return ExitCode.NO_ANSWER


def _say(text: str) -> None:
    with suppress(OSError):  # the exit code tells it too
        Console(sys.stderr).write(f"greenroom: {text}\n")
