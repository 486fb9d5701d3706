"""`python -m tests.benchmarks.store`: `Database` beside apsw alone, and the store's writer with and without groups.

Everything is done in turn within each round, on files of their own in one directory, with the write-ahead log
and synchronous NORMAL. `--quick` does less of everything.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import apsw

from actors.store import Database, DatabaseOptions, Migration
from actors.store.writer import StoreWriter, Write
from runtime import ActorSystem
from tests.benchmarks.harness import Figures, Measure, Ratio, Results, machine_facts, table

APSW, DATABASE, WRITER, ALONE = "apsw", "Database", "writer", "writer, one by one"
SUBJECTS = (DATABASE, APSW, WRITER, ALONE)
LIMIT_S = 120.0

TABLE = "CREATE TABLE t (id INTEGER PRIMARY KEY, body)"
INSERT = "INSERT INTO t (body) VALUES (?)"
SELECT = "SELECT id, body FROM t WHERE id = ?"
BODY = "x" * 100

MEASURES = {
    "insert": Measure("an INSERT, committed", "us"),
    "inside": Measure("an INSERT within a transaction", "us"),
    "select": Measure("a SELECT by key", "us"),
    "writes": Measure("small writes asked for at once", "1/s", rate=True),
}


@dataclass(frozen=True)
class Amount:
    """How much of everything."""

    rounds: int
    statements: int
    commits: int
    writes: int


FULL = Amount(rounds=7, statements=20_000, commits=2_000, writes=20_000)
QUICK = Amount(rounds=2, statements=2_000, commits=200, writes=2_000)


class OneByOne(StoreWriter):
    """Each message in a transaction of its own."""

    batch_limit: ClassVar[int] = 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.store", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="less of everything")
    amount = QUICK if parser.parse_args(arguments).quick else FULL
    facts = machine_facts(amount.rounds)
    print(
        table(measured(amount), MEASURES, SUBJECTS, [Ratio(DATABASE, APSW), Ratio(WRITER, ALONE)])
    )
    print(f"\n{facts}")
    return 0


def measured(amount: Amount) -> Results:
    """The figures of all rounds."""
    results = Results()
    for _ in range(amount.rounds):
        with tempfile.TemporaryDirectory() as directory:
            results.add(APSW, by_apsw(Path(directory, "apsw.db"), amount))
            results.add(DATABASE, by_database(Path(directory, "ours.db"), amount))
            results.add(ALONE, by_writer(OneByOne, Path(directory, "alone.db"), amount))
            results.add(WRITER, by_writer(StoreWriter, Path(directory, "group.db"), amount))
    return results


def by_apsw(path: Path, amount: Amount) -> Figures:
    """The driver by hand, with what `Database` sets that costs anything."""
    connection = apsw.Connection(str(path))
    try:
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(TABLE)
        execute = connection.execute
        committed = each_us(amount.commits, lambda _: execute(INSERT, (BODY,)))
        execute("BEGIN")
        inside = each_us(amount.statements, lambda _: execute(INSERT, (BODY,)))
        execute("COMMIT")
        found = each_us(amount.statements, lambda n: execute(SELECT, (n,)).fetchall())
    finally:
        connection.close()
    return {"insert": committed, "inside": inside, "select": found}


def by_database(path: Path, amount: Amount) -> Figures:
    """The same."""
    with Database(path) as db:
        db.execute(TABLE)
        committed = each_us(amount.commits, lambda _: db.run(INSERT, BODY))
        with db.transaction() as transaction:
            inside = each_us(amount.statements, lambda _: db.run(INSERT, BODY))
            transaction.commit()
        found = each_us(amount.statements, lambda n: db.query(SELECT, n))
    return {"insert": committed, "inside": inside, "select": found}


def by_writer(kind: type[StoreWriter], path: Path, amount: Amount) -> Figures:
    """Messages to the actor, sent by one thread, which then takes every answer."""
    steps = (Migration.from_sql(1, "table", TABLE),)
    write = Write(partial(_insert, BODY))
    with ActorSystem() as system:
        writer: Any = system.spawn(kind, str(path), DatabaseOptions(), steps)
        writer.ask(write, timeout=LIMIT_S)
        began = time.perf_counter()
        replies = [writer.ask(write, block=False) for _ in range(amount.writes)]
        for reply in replies:
            reply.get(timeout=LIMIT_S)
        taken = time.perf_counter() - began
    return {"writes": amount.writes / taken}


def _insert(body: str, db: Database) -> None:
    db.run(INSERT, body)


def each_us(times: int, work: Callable[[int], object]) -> float:
    """Microseconds of one call."""
    began = time.perf_counter()
    for number in range(times):
        work(number)
    return (time.perf_counter() - began) / times * 1e6


if __name__ == "__main__":
    sys.exit(main())
