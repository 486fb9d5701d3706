"""The options `greenroom run` and `greenroom chat` share, and what they make: settings, handler, approver."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from typing import Any, TextIO, get_args

from msgspec import structs

from actors.cli.approving import AlwaysApprove, PausesProgress
from actors.cli.mcp_target import add_server_options
from actors.config import AgentConfig, Provider
from actors.config_env import environment_settings
from actors.output.handler import OutputHandler
from actors.output.json_lines import JsonLinesHandler
from actors.output.silent import SilentHandler
from actors.output.terminal import TerminalHandler
from actors.tools.approval import Approver
from actors.tools.terminal_approver import TerminalApprover


def add_agent_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that make an agent, and those that say how its turns are shown."""
    add_making_options(parser)
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--json-events", action="store_true", help="print events, one JSON a line")
    shown.add_argument("--quiet", action="store_true", help="print the answer only")


def add_making_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that make an agent; `json_events` and `quiet` are for the caller to set."""
    add = parser.add_argument
    add(
        "--provider",
        choices=get_args(Provider),
        help="how the model is reached; local: on this machine",
    )
    add("--base-url", metavar="URL", help="address of an OpenAI-compatible server")
    add("--model", metavar="NAME", help="what the model is called there")
    add("--stream", action="store_true", help="show the reply while it is written")
    add("--max-steps", type=_step_count, metavar="N", help="model calls per question (default 20)")
    add("--system", metavar="TEXT", help="what the agent is and how it shall answer")
    add("--tools", action="append", metavar="MODULE:NAME", help="your tools; may be repeated")
    add_server_options(parser)
    add("--yes", action="store_true", help="run tools that need approval without asking")
    add("--debug", action="store_true", help="show prompts, replies, logs and tracebacks")


def config_from(args: argparse.Namespace) -> AgentConfig:
    """The settings the options make; what is not given keeps its default, or the environment's value.

    Raises:
        ConfigError: a setting has a value it cannot have.
    """
    given: dict[str, Any] = {
        "provider": args.provider or ("openai" if args.base_url else None),
        "base_url": _with_scheme(_text_or_none(args.base_url)),
        "model": _text_or_none(args.model),
        "max_steps": args.max_steps,
        "streaming": args.stream or None,
    }
    chosen = {name: value for name, value in given.items() if value is not None}
    config = AgentConfig(
        debug=args.debug,
        show_prompts=args.debug,
        # Without these a streamed turn would have no answer line.
        structured_events=args.json_events or args.quiet,
        **{**_from_environment(chosen), **chosen},
    )
    config.validate()
    return structs.replace(config, api_key=key_for(config.base_url, os.environ))


def _with_scheme(address: str | None) -> str | None:
    """An address typed without a scheme means http (gaia 9.1)."""
    return f"http://{address}" if address and "://" not in address else address


def _from_environment(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """What the GAIA_ variables name; address and model only where the options choose neither.

    A variable that is old or cannot be read is told on standard error.
    """
    settings, warnings = environment_settings()
    for warning in warnings:
        print(f"greenroom: {warning}", file=sys.stderr)
    if chosen.keys() & {"provider", "base_url", "model"}:
        settings = {
            name: value for name, value in settings.items() if name not in ("base_url", "model")
        }
    return settings


def key_for(base_url: str, environ: Mapping[str, str]) -> str:
    """The key for a server: GREENROOM_API_KEY, or OPENAI_API_KEY for OpenAI's own address and no other."""
    if environ.get("GREENROOM_API_KEY"):
        return environ["GREENROOM_API_KEY"]
    if base_url == AgentConfig(provider="openai").base_url:
        return environ.get("OPENAI_API_KEY", "")
    return ""


def handler_from(
    args: argparse.Namespace, out: TextIO | None = None, *, shows_query: bool = True
) -> OutputHandler:
    """How the turn is shown: as JSON, as the answer alone, or to a person; on standard output or `out`."""
    if args.json_events:
        return JsonLinesHandler(out)
    if args.quiet:
        return SilentHandler(out)
    return TerminalHandler(out, shows_query=shows_query)


def approver_from(args: argparse.Namespace, handler: OutputHandler) -> Approver | None:
    """Who decides on tools that need approval: `--yes`, else the person at the terminal, else nobody.

    Nobody means that they are refused.
    """
    if args.yes:
        return AlwaysApprove()
    if sys.stdin is None or not sys.stdin.isatty():
        return None
    return PausesProgress(TerminalApprover(), handler)


def text_from(argument: str) -> str:
    """A command-line text with bytes that are no UTF-8 replaced, so that it can be sent."""
    return argument.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _text_or_none(argument: str | None) -> str | None:
    return None if argument is None else text_from(argument)


def _step_count(text: str) -> int:
    try:
        count = int(text)
    except ValueError:
        count = 0
    if count < 1:
        raise argparse.ArgumentTypeError(f"expected a number of steps above 0, got {text!r}")
    return count
