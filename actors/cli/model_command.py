"""`greenroom model list|pull|path`: the model files of this machine."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from actors.cli.exit_code import ExitCode
from actors.errors import InvalidArgument
from actors.model.catalogue import CATALOGUE, DEFAULT_MODEL, MB, CatalogueEntry, entry_named
from actors.model.model_files import SUFFIX, find_model, models_dir, pulled_models
from actors.model.pull import OnProgress, PullProgress, pull_model
from actors.model.pull_url import pull_url
from actors.output.console import Console

_WIDE = max(len(entry.name) for entry in CATALOGUE)


def add_model_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `greenroom model` and its three commands to the command line."""
    parser = subparsers.add_parser(
        "model",
        usage="greenroom model list|pull|path [options]",
        help="list, fetch or find model files",
        description="The model files of this machine, used with --provider local.",
    )
    commands = parser.add_subparsers(
        prog="greenroom model", dest="model_command", metavar="COMMAND", required=True
    )
    commands.add_parser("list", help="what there is, what it can do, what is here")
    path = commands.add_parser("path", help="print where a model file is")
    path.add_argument(
        "name", nargs="?", default="", metavar="NAME", help=f"default: {DEFAULT_MODEL}"
    )
    pull = commands.add_parser(
        "pull",
        help="fetch a model file",
        description="Fetch a model file into the cache and check it; nothing is installed.",
    )
    pull.add_argument(
        "name", nargs="?", default="", metavar="NAME", help=f"default: {DEFAULT_MODEL}"
    )
    pull.add_argument("--url", metavar="URL", help="fetch a GGUF file from there")
    pull.add_argument("--sha256", metavar="HEX", help="what the file at URL must be")


def run_model(args: argparse.Namespace) -> int:
    """Run one of the three.

    Raises:
        LocalModelError: the model is not there, or cannot be had.
        InvalidArgument: the options make no sense together.
    """
    out = Console(sys.stdout)
    match args.model_command:
        case "list":
            out.write(listing())
        case "path":
            out.write(f"{find_model(args.name).path}\n")
        case _:
            progress = Console(sys.stderr)
            try:
                path = _pull(args, lambda step: _show(progress, step))
            finally:
                progress.clear_status()
            out.write(f"{path}\n")
    return ExitCode.ANSWERED


def listing() -> str:
    """The catalogue and what else lies in the cache, as text of at most 80 columns."""
    here = set(pulled_models())
    lines = [_entry_lines(entry, pulled=entry.name in here) for entry in CATALOGUE]
    others = sorted(here - {entry.name for entry in CATALOGUE})
    lines += [f"{name:{_WIDE}}  here    pulled from an address of yours\n" for name in others]
    return "\n".join([*lines, f"Files are kept in {models_dir()}\n"])


def _entry_lines(entry: CatalogueEntry, *, pulled: bool) -> str:
    default = " (default)" if entry.name == DEFAULT_MODEL else ""
    state = "here" if pulled else "-"
    size, memory = entry.size_bytes // MB, entry.memory_bytes // MB
    return (
        f"{entry.name:{_WIDE}}  {state:6}  {size} MB, {memory} MB of memory{default}\n"
        f"    does:     {entry.abilities}\n"
        f"    licence:  {entry.licence}\n"
        f"    packager: {entry.packager}\n"
    )


def _pull(args: argparse.Namespace, on_progress: OnProgress) -> Path:
    if args.url is not None:
        if args.sha256 is None:
            raise InvalidArgument("--url needs --sha256, so that the file is the one you mean")
        return pull_url(args.url, args.sha256, name=args.name, on_progress=on_progress)
    if args.sha256 is not None:
        raise InvalidArgument("--sha256 goes with --url; models of the catalogue have theirs")
    entry = entry_named(args.name)
    if entry is not None:
        return pull_model(entry, on_progress=on_progress)
    if args.name.endswith(SUFFIX):
        return find_model(args.name).path  # on this machine already
    names = ", ".join(known.name for known in CATALOGUE)
    raise InvalidArgument(f"expected one of {names}, or --url, got {args.name!r}")


def _show(console: Console, progress: PullProgress) -> None:
    """A step of a pull: at a terminal one line that changes, else a line each."""
    done = f" ({progress.done_bytes // MB} of {progress.total_bytes // MB} MB)"
    text = progress.step + (done if progress.total_bytes else "")
    if console.is_terminal:
        console.show_status(text)
    else:
        console.write(f"{text}\n")
