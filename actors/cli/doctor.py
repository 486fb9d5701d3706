"""`greenroom doctor`: what is there, what is not, and what to do; one line for each."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator, Mapping

from actors.cli.exit_code import ExitCode
from actors.cli.finding import Finding
from actors.cli.installation import installation
from actors.cli.server_check import servers
from actors.cli.shadowing import shadowing
from actors.cli.tool_loading import current_directory
from actors.config import AgentConfig
from actors.errors import LocalModelError
from actors.model.base_url import lemonade_url
from actors.model.model_files import models_dir, pulled_models
from actors.output.console import Console
from runtime.clock import new_loop

_STYLES = {"ok": ("green",), "note": ("yellow",), "problem": ("red", "bold")}


def report(findings: Iterable[Finding], console: Console) -> ExitCode:
    """Print each finding as it comes; NO_ANSWER if one is a problem."""
    problems = 0
    for finding in findings:
        problems += finding.mark == "problem"
        console.write(
            f"{console.paint(f'{finding.mark:<8}', *_STYLES[finding.mark])}{console.clean(finding.text)}\n"
        )
        if finding.advice:
            console.write(f"{'':<8}{console.clean('-> ' + finding.advice)}\n")
    summary = f"{problems} problem(s) found" if problems else "no problem found"
    console.write(console.paint(summary, "bold") + "\n")
    return ExitCode.NO_ANSWER if problems else ExitCode.ANSWERED


def add_doctor_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `greenroom doctor` to the command line."""
    parser = subparsers.add_parser(
        "doctor",
        usage="greenroom doctor [--base-url URL]",
        help="tell what is installed, what answers, and what to do",
        description="Look at this installation, its models and the model servers nearby.",
    )
    parser.add_argument("--base-url", metavar="URL", help="also ask the server at this address")


def doctor(args: argparse.Namespace) -> ExitCode:
    """Look at everything and print what was found. Exit code 1 if something will not work."""
    return report(findings(args.base_url), Console())


def findings(base_url: str | None) -> Iterator[Finding]:
    """All there is to tell, in the order it is printed."""
    yield from installation()
    yield event_loop()
    yield from shadowing(current_directory())
    yield local_models(os.environ)
    yield from servers(addresses(base_url, os.environ))


def event_loop() -> Finding:
    """Which event loop a system gets by default."""
    loop, name = new_loop(None)
    loop.close()
    return Finding("ok", f"event loop: {name}")


def local_models(environ: Mapping[str, str]) -> Finding:
    """Which model files are here."""
    try:
        names, where = pulled_models(environ), models_dir(environ)
    except LocalModelError as error:
        return Finding("problem", str(error))
    if names:
        return Finding("ok", f"models in {where}: {', '.join(names)}")
    return Finding(
        "note", f"no models in {where}", "to run one on this machine: greenroom model pull"
    )


def addresses(base_url: str | None, environ: Mapping[str, str]) -> list[tuple[str, str]]:
    """The servers to ask, each once: the one named, Lemonade's, Ollama's."""
    ollama = AgentConfig(provider="ollama").base_url
    # Beside its own protocol Ollama speaks the OpenAI way there.
    asked = {lemonade_url("", environ): "Lemonade", f"{ollama}/v1": "Ollama"}
    if base_url:
        asked = {base_url: "the server you named", **asked}
    return [(kind, url) for url, kind in asked.items()]
