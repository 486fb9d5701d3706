"""`greenroom memory add|search|stats`: documents that agents remember, put in and looked for by hand."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

_COLLECTION: Final = "notes"


def add_memory_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `greenroom memory` and its three commands to the command line."""
    parser = subparsers.add_parser(
        "memory",
        usage="greenroom memory add|search|stats [options]",
        help="keep documents that agents remember, and look for them",
        description="Documents that agents remember, in a store on this machine.",
    )
    commands = parser.add_subparsers(
        prog="greenroom memory", dest="memory_command", metavar="COMMAND", required=True
    )
    add = commands.add_parser("add", help="keep text files; one added before is replaced")
    add.add_argument("files", nargs="+", metavar="FILE", help="-: standard input")
    add.add_argument("--source", metavar="NAME", help="what a single text is called")
    search = commands.add_parser("search", help="look for what was kept")
    search.add_argument("query", metavar="QUERY")
    search.add_argument("-k", type=int, default=5, metavar="N", help="at most so many (default 5)")
    search.add_argument("--json", action="store_true", help="print them as one JSON array")
    stats = commands.add_parser("stats", help="what is kept, by collection")
    for command in (add, search, stats):
        _add_shared_options(command)


def _add_shared_options(command: argparse.ArgumentParser) -> None:
    option = command.add_argument
    option("--store", type=Path, metavar="FILE", help="default: store.db in GREENROOM_DATA_DIR")
    option("--collection", default=_COLLECTION, metavar="NAME", help=f"default: {_COLLECTION}")
    option("--embeddings-url", metavar="URL", help="a server that has /embeddings")
    option("--embeddings-model", metavar="NAME", help="what the model is called there")
    option("--debug", action="store_true", help="show logs and tracebacks")


def run_memory(args: argparse.Namespace) -> int:
    """Run one of the three. Raises as `work_on_memory`."""
    from actors.cli.memory_work import work_on_memory  # noqa: PLC0415  see there

    return work_on_memory(args)
