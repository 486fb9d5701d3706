"""What `greenroom memory` does. Its own module, because the store and numpy take as long to import as all the rest."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

from actors.cli.exit_code import ExitCode
from actors.cli.options import key_for, text_from
from actors.errors import ExtractionError, InvalidArgument
from actors.memory.documents import CollectionStats, MemoryHit
from actors.memory.extraction import extract_text
from actors.memory.memory import MemoryRef, open_memory
from actors.model.embeddings import EmbeddingModel
from actors.output.console import Console
from actors.store.location import default_store_path
from actors.store.standard_tables import STANDARD_TABLES
from actors.store.store import open_store
from runtime import ActorSystem

STDIN: Final = "-"


def work_on_memory(args: argparse.Namespace) -> int:
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
        source = text_from(args.source or ("stdin" if file == STDIN else os.path.abspath(file)))  # noqa: PTH100 - the name as typed, links kept
        try:
            text = _text_in(file, source)
        except ExtractionError as error:
            Console(sys.stderr).write(f"greenroom: {error}\n")
            code = ExitCode.NO_ANSWER
            continue
        added = memory.add(text, source=source, collection=args.collection)
        out.write(f"{added.source}: {added.chunks} chunk{'s' * (added.chunks != 1)}\n")
    return code


def _text_in(file: str, source: str) -> str:
    text = text_from(sys.stdin.read()) if file == STDIN else extract_text(Path(file))
    if not text.strip():
        raise ExtractionError(f"{source!r} says nothing, it is left out")
    return text


def _as_json(hits: list[MemoryHit]) -> str:
    return msgspec.json.encode(hits).decode() + "\n"


def _as_text(hits: list[MemoryHit]) -> str:
    if not hits:
        return "nothing was found\n"
    return "\n".join(f"{hit.source} (from {hit.start}):\n{_indented(hit.text)}\n" for hit in hits)


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


def _stats(memory: MemoryRef) -> str:
    return "".join(map(_stats_line, memory.stats())) or "nothing is kept\n"


def _stats_line(each: CollectionStats) -> str:
    model = f"{each.model}, dimension {each.dimension}" if each.model else "words only"
    return (
        f"{each.name}: {each.documents} documents, {each.chunks} chunks, "
        f"{each.characters} characters; {model}\n"
    )
