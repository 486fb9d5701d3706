"""The store: writes in groups, reads beside them, and what happens when its file is damaged or goes away."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pykka
import pytest

from actors.errors import DatabaseError, InvalidArgument, StoreInUse
from actors.store import (
    Changed,
    Database,
    DatabaseOptions,
    Migration,
    Store,
    StoreFileReplaced,
    open_store,
)
from runtime import ActorDeadError, ActorSystem, AskCycle, NameTaken
from tests.source_tree import ROOT

STEPS = (Migration.from_sql(1, "table", "CREATE TABLE t (a UNIQUE)"),)
LIMIT_S = 30.0
ENDLESS = "WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) FROM c"
INSERT = "INSERT INTO t VALUES (?)"


@pytest.fixture
def system() -> Iterator[ActorSystem]:
    """Ended after the test."""
    with ActorSystem() as running:
        yield running


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Of a store."""
    return tmp_path / "some" / "a.db"


@pytest.fixture
def store(system: ActorSystem, path: Path) -> Store:
    """With a table."""
    return open_store(system, path, migrations=STEPS)


def values(store: Store) -> list[Any]:
    """What is in the table."""
    return [value for (value,) in store.query("SELECT a FROM t ORDER BY a")]


def test_what_was_written_is_read_by_all(store: Store, path: Path) -> None:
    assert store.run(INSERT, 1) == Changed(1, 1)
    assert store.write(lambda db: db.query("SELECT a FROM t")) == [(1,)]
    assert store.query("SELECT a FROM t") == [(1,)]
    with Database(path, DatabaseOptions(read_only=True)) as other:
        assert other.query("SELECT a FROM t") == [(1,)]


def test_an_error_goes_to_its_asker_and_the_store_goes_on(store: Store) -> None:
    def half_done(db: Database) -> None:
        db.run(INSERT, 1)
        raise LookupError("no such moon")

    with pytest.raises(LookupError, match="no such moon"):
        store.write(half_done)
    with pytest.raises(DatabaseError, match="no such table"):
        store.run("INSERT INTO nosuch VALUES (1)")
    with pytest.raises(DatabaseError, match="no such table"):
        store.query("SELECT * FROM nosuch")
    with pytest.raises(LookupError):
        store.read(half_done_reading)
    assert values(store) == []


def half_done_reading(_: Database) -> None:
    """Work that raises."""
    raise LookupError


def test_readers_cannot_write(store: Store) -> None:
    with pytest.raises(DatabaseError) as caught:
        store.read(lambda db: db.run(INSERT, 1))
    assert caught.value.code == 8


def test_writes_of_threads_and_loops_at_once_all_have_their_own_outcome(store: Store) -> None:
    failed: list[int] = []

    def from_a_thread(start: int) -> None:
        for number in range(start, start + 200):
            try:
                store.run(INSERT, number)
            except DatabaseError:
                failed.append(number)

    async def from_a_loop() -> list[Any]:
        works = [store.arun(INSERT, number) for number in range(150, 1_000)]
        return await asyncio.gather(*works, return_exceptions=True)

    threads = [threading.Thread(target=from_a_thread, args=(start,)) for start in (0, 100, 900)]
    for thread in threads:
        thread.start()
    outcomes = asyncio.run(from_a_loop())
    for thread in threads:
        thread.join(LIMIT_S)
    assert values(store) == list(range(1_100))
    refused = sum(isinstance(each, DatabaseError) for each in outcomes) + len(failed)
    assert refused == 600 + 850 - 1_100


def test_a_read_sees_one_state_for_all_its_statements(store: Store) -> None:
    begun, written = threading.Event(), threading.Event()

    def twice(db: Database) -> tuple[Any, Any]:
        first = db.query("SELECT count(*) FROM t")
        begun.set()
        assert written.wait(LIMIT_S)
        return first, db.query("SELECT count(*) FROM t")

    def write() -> None:
        assert begun.wait(LIMIT_S)
        store.run(INSERT, 1)
        written.set()

    writer = threading.Thread(target=write)
    writer.start()
    assert store.read(twice) == ([(0,)], [(0,)])
    writer.join(LIMIT_S)
    assert values(store) == [1]


def test_a_long_read_holds_up_neither_writes_nor_other_reads(store: Store) -> None:
    begun, let_go = threading.Event(), threading.Event()

    def long(db: Database) -> None:
        begun.set()
        assert let_go.wait(LIMIT_S)

    reader = threading.Thread(target=store.read, args=(long,))
    reader.start()
    assert begun.wait(LIMIT_S)
    store.run(INSERT, 1)
    assert values(store) == [1]
    let_go.set()
    reader.join(LIMIT_S)


def test_a_read_that_nobody_waits_for_is_interrupted(system: ActorSystem, path: Path) -> None:
    store = open_store(system, path, migrations=STEPS, reads_at_once=1)

    async def main() -> None:
        begun = asyncio.Event()
        loop = asyncio.get_running_loop()

        def endless(db: Database) -> None:
            loop.call_soon_threadsafe(begun.set)
            db.query(ENDLESS)

        reading = asyncio.create_task(store.aread(endless))
        await begun.wait()
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading

    asyncio.run(main())
    with pytest.raises(pykka.Timeout):
        store.read(lambda db: db.query(ENDLESS), timeout=0.1)
    assert values(store) == []  # by the one thread


def test_a_store_ends_while_it_reads_and_writes(path: Path) -> None:
    begun = threading.Event()

    def endless(db: Database) -> None:
        begun.set()
        db.query(ENDLESS)

    def read(store: Store) -> None:
        try:
            store.read(endless)
        except ActorDeadError as error:
            ends.append(error)

    ends: list[ActorDeadError] = []
    with ActorSystem() as system:
        store = open_store(system, path, migrations=STEPS)
        reader = threading.Thread(target=read, args=(store,))
        reader.start()
        assert begun.wait(LIMIT_S)
    reader.join(LIMIT_S)
    assert len(ends) == 1
    for call in (lambda: store.run(INSERT, 1), lambda: store.query("SELECT 1")):
        with pytest.raises(ActorDeadError):
            call()
    assert sorted(each.name for each in path.parent.iterdir()) == ["a.db", "a.db.owner"]


def test_work_that_asks_its_own_store_is_told_instead_of_waiting_for_ever(store: Store) -> None:
    with pytest.raises(AskCycle):
        store.write(lambda _: store.run(INSERT, 1), timeout=LIMIT_S)
    assert store.read(lambda _: store.run(INSERT, 1)).rows == 1


# -- care ------------------------------------------------------------------------------------------


def test_a_backup_is_whole_while_others_write(store: Store, tmp_path: Path) -> None:
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            store.run(INSERT, number)
            number += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(5):
            store.backup(tmp_path / "copies" / "copy.db")
            with Database(tmp_path / "copies" / "copy.db", DatabaseOptions(read_only=True)) as copy:
                assert copy.check_integrity() == []
                count, most = copy.query("SELECT count(*), coalesce(max(a), -1) FROM t")[0]
                assert count == most + 1
    finally:
        stop.set()
        writer.join(LIMIT_S)
    assert store.check_integrity() == []
    assert not list((tmp_path / "copies").glob("*.tmp"))


def test_a_backup_that_cannot_be_written_is_told(store: Store, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(DatabaseError, match="cannot back up"):
        store.backup(tmp_path / "file" / "copy.db")
    with pytest.raises(DatabaseError, match="cannot back up"):
        store.backup(tmp_path)


# -- damage ----------------------------------------------------------------------------------------


def replaced(system: ActorSystem) -> list[StoreFileReplaced]:
    """Filled as it happens."""
    events: list[StoreFileReplaced] = []
    system.events.subscribe(events.append, StoreFileReplaced)
    return events


def test_a_file_that_goes_away_is_begun_anew(system: ActorSystem, store: Store, path: Path) -> None:
    events = replaced(system)
    store.run(INSERT, 1)
    path.unlink()
    with pytest.raises(DatabaseError, match="has gone while it was open"):
        store.run(INSERT, 2)
    assert store.run(INSERT, 3) == Changed(1, 1)
    assert values(store) == [3]
    assert [event.moved_to for event in events] == [None]


def test_a_read_is_done_again_if_the_readers_are_restarted_under_it(
    store: Store, path: Path
) -> None:
    begun = threading.Event()
    done: list[int] = []

    def slow_at_first(db: Database) -> int:
        if not begun.is_set():
            begun.set()
            db.query(ENDLESS)
        return 7

    reader = threading.Thread(target=lambda: done.append(store.read(slow_at_first)))
    reader.start()
    assert begun.wait(LIMIT_S)
    path.unlink()
    with pytest.raises(DatabaseError, match="has gone"):
        store.run(INSERT, 1)
    reader.join(LIMIT_S)
    assert done == [7]


def test_a_damaged_file_is_set_aside_and_begun_anew(
    system: ActorSystem, store: Store, path: Path
) -> None:
    events = replaced(system)
    for number in range(2_000):
        store.run(INSERT, f"{number:0200}")
    store.write(lambda db: None)
    with Database(path) as other:  # so that the pages are in the file
        other.query("PRAGMA wal_checkpoint(TRUNCATE)")
    with path.open("r+b") as file:
        for page in range(2, 60):
            file.seek(page * 4096)
            file.write(b"\xa5" * 4096)
    with pytest.raises(DatabaseError, match="malformed"):
        store.write(lambda db: db.query("SELECT sum(length(a)) FROM t NOT INDEXED"))
    assert store.run(INSERT, 1) == Changed(1, 1)
    assert values(store) == [1]
    (event,) = events
    assert event.moved_to is not None
    assert Path(event.moved_to).stat().st_size > 100_000
    assert path.name + ".damaged-" in event.moved_to


def test_a_file_that_was_never_a_store_is_refused_and_left(system: ActorSystem, path: Path) -> None:
    path.parent.mkdir()
    path.write_text("dear diary", encoding="utf-8")
    with pytest.raises(DatabaseError, match="not a database"):
        open_store(system, path)
    assert path.read_text(encoding="utf-8") == "dear diary"
    path.unlink()
    assert open_store(system, path, migrations=STEPS).run(INSERT, 1).rows == 1


# -- opening ---------------------------------------------------------------------------------------


def test_a_migration_that_fails_or_is_older_than_the_file_is_told(
    system: ActorSystem, path: Path
) -> None:
    with pytest.raises(DatabaseError, match=r"version 1 \(broken\) failed"):
        open_store(system, path, migrations=[Migration.from_sql(1, "broken", "nonsense")])
    with Database(path) as db:
        db.user_version = 9
    with pytest.raises(DatabaseError, match="at version 9, newer than"):
        open_store(system, path, migrations=STEPS)


def test_a_store_needs_a_file_it_may_write(system: ActorSystem, tmp_path: Path) -> None:
    for where, options in (
        (":memory:", DatabaseOptions()),
        (tmp_path / "a", DatabaseOptions(read_only=True)),
    ):
        with pytest.raises(InvalidArgument, match="a file that it may write"):
            open_store(system, where, options=options)
    with pytest.raises(InvalidArgument, match="reads_at_once"):
        open_store(system, tmp_path / "a", reads_at_once=0)
    (tmp_path / "file").write_text("x", encoding="utf-8")
    for where in (tmp_path, tmp_path / "file" / "a.db"):
        with pytest.raises(DatabaseError):
            open_store(system, where)
    with pytest.raises(DatabaseError):
        open_store(
            system, tmp_path / "no" / "a.db", options=DatabaseOptions(create_if_missing=False)
        )


def test_one_file_has_one_store(
    system: ActorSystem, store: Store, path: Path, tmp_path: Path
) -> None:
    with pytest.raises(StoreInUse, match="in use by process"):
        open_store(system, path, name="other")
    with pytest.raises(NameTaken):
        open_store(system, tmp_path / "b.db")
    other = open_store(system, tmp_path / "b.db", migrations=STEPS, name="other")
    other.run(INSERT, 1)
    assert values(store) == []


def test_a_second_process_is_refused_with_the_first_ones_pid_until_that_is_killed(
    system: ActorSystem, path: Path
) -> None:
    script = (
        "import sys, time; from runtime import ActorSystem; from actors.store import open_store\n"
        "with ActorSystem() as system:\n"
        "    store = open_store(system, sys.argv[1]); store.run('CREATE TABLE t (a)')\n"
        "    print('open', flush=True); time.sleep(600)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(path)], cwd=ROOT, stdout=subprocess.PIPE
    ) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == b"open\n"
        try:
            with pytest.raises(StoreInUse, match=f"in use by process {owner.pid}") as caught:
                open_store(system, path)
            assert caught.value.pid == owner.pid
        finally:
            owner.kill()
    assert values(open_store(system, path)) == []
