"""`greenroom memory add|search|stats`: documents that agents remember, put in and looked for by hand."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec

from actors.cli.exit_code import ExitCode
from actors.cli.options import key_for, text_from
from actors.errors import ExtractionError, InvalidArgument
from actors.memory.documents import MemoryHit
from actors.memory.extraction import extract_text
from actors.memory.memory import COLLECTION, MemoryRef, open_memory
from actors.model.embeddings import EmbeddingModel
from actors.output.console import Console
from actors.store.location import default_store_path
from actors.store.standard_tables import STANDARD_TABLES
from actors.store.store import open_store
from runtime import ActorSystem

_STDIN: Final = "-"


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
    option("--collection", default=COLLECTION, metavar="NAME", help=f"default: {COLLECTION}")
    option("--embeddings-url", metavar="URL", help="a server that has /embeddings")
    option("--embeddings-model", metavar="NAME", help="what the model is called there")
    option("--debug", action="store_true", help="show logs and tracebacks")


def run_memory(args: argparse.Namespace) -> int:
    """Run one of the three.

    Raises:
        InvalidArgument: the options make no sense together, or there is no store to look in.
        AgentError: the store or the embedding model's server failed.
    """
    out = Console(sys.stdout)
    with _opened(args, create=args.memory_command == "add") as memory:
        match args.memory_command:
            case "add":
                return _add(memory, args, out)
            case "search":
                hits = memory.search(text_from(args.query), args.k, collection=args.collection)
                out.write(_as_json(hits) if args.json else _as_text(hits))
                return ExitCode.ANSWERED if hits or args.json else ExitCode.NO_ANSWER
            case _:
                out.write(_stats(memory))
    return ExitCode.ANSWERED


@contextmanager
def _opened(args: argparse.Namespace, *, create: bool) -> Iterator[MemoryRef]:
    path: Path = args.store or default_store_path()
    if not create and not path.exists():
        raise InvalidArgument(
            f"there is no store at {str(path)!r}; `greenroom memory add` makes one"
        )
    embedding = _embedding_from(args)
    with ActorSystem() as system:
        store = open_store(system, path, migrations=STANDARD_TABLES)
        yield open_memory(system, store, embedding)


def _embedding_from(args: argparse.Namespace) -> EmbeddingModel | None:
    url = args.embeddings_url or os.environ.get("GREENROOM_EMBEDDINGS_URL", "")
    model = args.embeddings_model or os.environ.get("GREENROOM_EMBEDDINGS_MODEL", "")
    if not url and not model:
        return None
    if not url or not model:
        raise InvalidArgument(
            "an embedding model has an address and a name: give both --embeddings-url and "
            "--embeddings-model, or neither"
        )
    return EmbeddingModel(text_from(model), text_from(url), key_for(url, os.environ))


def _add(memory: MemoryRef, args: argparse.Namespace, out: Console) -> int:
    if args.source and len(args.files) > 1:
        raise InvalidArgument(f"--source names one text, and there are {len(args.files)}")
    code = ExitCode.ANSWERED
    for file in args.files:
        source = text_from(args.source or ("stdin" if file == _STDIN else os.path.abspath(file)))  # noqa: PTH100 - the name as typed, links kept
        try:
            text = _text_in(file)
        except ExtractionError as error:
            Console(sys.stderr).write(f"greenroom: {error}\n")
            code = ExitCode.NO_ANSWER
            continue
        if not text.strip():
            Console(sys.stderr).write(f"greenroom: {source!r} says nothing, it is left out\n")
            code = ExitCode.NO_ANSWER
            continue
        added = memory.add(text, source=source, collection=args.collection)
        out.write(f"{added.source}: {added.chunks} chunk{'s' * (added.chunks != 1)}\n")
    return code


def _text_in(file: str) -> str:
    if file != _STDIN:
        return extract_text(Path(file))
    return text_from(sys.stdin.read())


def _as_json(hits: list[MemoryHit]) -> str:
    return msgspec.json.encode(hits).decode() + "\n"


def _as_text(hits: list[MemoryHit]) -> str:
    if not hits:
        return "nothing was found\n"
    return "\n".join(f"{hit.source} (from {hit.start}):\n{_indented(hit.text)}\n" for hit in hits)


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


def _stats(memory: MemoryRef) -> str:
    lines: list[Any] = []
    for each in memory.stats():
        model = f"{each.model}, dimension {each.dimension}" if each.model else "words only"
        lines.append(
            f"{each.name}: {each.documents} documents, {each.chunks} chunks, "
            f"{each.characters} characters; {model}\n"
        )
    return "".join(lines) or "nothing is kept\n"
