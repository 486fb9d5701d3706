"""A process with a store is killed with SIGKILL at random moments: what was answered is there, nothing is half there."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from actors.store import Database
from tests.source_tree import ROOT

KILLS = 15

# Eight writers, each of which writes its next number twice, in one piece of work, and then says so.
WRITES = """
import asyncio, os, sys
from runtime import ActorSystem
from actors.store import Migration, open_store

STEPS = [Migration.from_sql(1, "t", "CREATE TABLE t (writer, n); CREATE TABLE u (writer, n)")]

async def write(store, writer, said):
    n = store.query("SELECT coalesce(max(n), 0) FROM t WHERE writer = ?", writer)[0][0]
    while True:
        n += 1
        def work(db, n=n):
            db.run("INSERT INTO t VALUES (?, ?)", writer, n)
            db.run("INSERT INTO u VALUES (?, ?)", writer, n)
        await store.awrite(work)
        os.write(said, f"{writer} {n}\\n".encode())

async def main(store):
    await asyncio.gather(*[write(store, writer, 1) for writer in range(8)])

with ActorSystem() as system:
    asyncio.run(main(open_store(system, sys.argv[1], migrations=STEPS)))
"""


def killed_after(pause_s: float, path: Path) -> list[tuple[int, int]]:
    """What the process said was written, before it was killed."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITES, str(path)], cwd=ROOT, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        threading.Event().wait(pause_s)
        process.kill()
        lines = [first, *process.stdout.read().split(b"\n")]
    pairs = [line.split() for line in lines if line.count(b" ") == 1]
    return [(int(writer), int(n)) for writer, n in pairs]


@pytest.mark.time_limit(120)
def test_no_answered_write_is_lost_and_none_is_half_there(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    pauses = random.Random(4)
    said: dict[int, int] = {}
    for _ in range(KILLS):
        for writer, n in killed_after(pauses.random() / 10, path):
            said[writer] = n
        with Database(path) as db:
            assert db.check_integrity() == []
            for table in ("t", "u"):
                rows = db.query(f"SELECT writer, count(*), max(n) FROM {table} GROUP BY writer")
                assert all(count == most for _, count, most in rows)
                written = {writer: most for writer, _, most in rows}
                assert all(written.get(writer, 0) >= n for writer, n in said.items())
            assert db.query("SELECT * FROM t EXCEPT SELECT * FROM u") == []
            assert db.query("SELECT * FROM u EXCEPT SELECT * FROM t") == []
    assert len(said) == 8
