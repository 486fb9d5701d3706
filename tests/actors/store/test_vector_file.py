"""Files of vectors: they come back as they were, a bad one changes nothing, and a save is whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.errors import AgentError, InvalidArgument, VectorFileError
from actors.store import VectorIndex, VectorOptions
from tests.source_tree import ROOT

OPTIONS = VectorOptions(metric="inner_product", normalize=True, model="modèle")


def saved(path: Path) -> VectorIndex:
    """An index with a hole in it, in a file."""
    index = VectorIndex(OPTIONS)
    index.add_many(
        [f"id-{'é' * n}" for n in range(100)], np.random.default_rng(1).normal(size=(100, 7))
    )
    index.remove("id-éé")
    index.save(path)
    return index


def test_what_was_saved_is_loaded_and_saved_again_to_the_byte(tmp_path: Path) -> None:
    index, again = saved(tmp_path / "a.vec"), VectorIndex()
    again.load(tmp_path / "a.vec")
    again.save(tmp_path / "deep" / "er" / "b.vec")
    assert again.options == index.options
    assert again.ids == index.ids
    assert (tmp_path / "deep/er/b.vec").read_bytes() == (tmp_path / "a.vec").read_bytes()
    query = np.arange(1, 8)
    assert again.search(query, 100) == index.search(query, 100)
    again.add("more", query)
    assert again.search(query, 1)[0].id == "more"


def test_an_empty_index_is_a_file_too(tmp_path: Path) -> None:
    VectorIndex(VectorOptions(dimension=3)).save(tmp_path / "a.vec")
    index = VectorIndex()
    index.load(tmp_path / "a.vec")
    assert (len(index), index.dimension) == (0, 3)
    assert index.search([1, 2, 3], 1) == []


def test_every_file_that_is_cut_short_or_has_more_is_refused(tmp_path: Path) -> None:
    index = VectorIndex(OPTIONS)
    index.add_many(["a", "bcd"], [[1, 2], [3, 4]])
    index.save(tmp_path / "whole.vec")
    whole = (tmp_path / "whole.vec").read_bytes()
    other = VectorIndex()
    other.add("mine", [1.0])
    for size in range(len(whole) + 1):
        (tmp_path / "a.vec").write_bytes(whole[:size] if size < len(whole) else whole + b"\0")
        with pytest.raises(VectorFileError, match=r"a\.vec"):
            other.load(tmp_path / "a.vec")
    assert other.ids == ["mine"]


@settings(deadline=None)
@given(data=st.data())
def test_a_file_with_any_byte_changed_is_refused_or_is_an_index(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("bytes") / "a.vec"
    index = VectorIndex(OPTIONS)
    index.add_many(["a", "bcd"], [[1, 2], [3, 4]])
    index.save(path)
    content = bytearray(path.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    loaded = VectorIndex()
    try:
        loaded.load(path)
    except AgentError:
        assert len(loaded) == 0
        return
    loaded.save(path.with_name("b.vec"))
    assert path.with_name("b.vec").read_bytes() == bytes(content)


@pytest.mark.parametrize("there", ["nothing", "directory", "fifo-less device"])
def test_what_cannot_be_read_is_told(tmp_path: Path, there: str) -> None:
    path = Path("/dev/null") if there == "fifo-less device" else tmp_path / "a.vec"
    if there == "directory":
        path.mkdir()
    with pytest.raises(VectorFileError, match=str(path)):
        VectorIndex().load(path)


def test_another_model_and_another_dimension_are_refused(tmp_path: Path) -> None:
    saved(tmp_path / "a.vec")
    with pytest.raises(VectorFileError, match=r"of model 'modèle', this index is for 'other'"):
        VectorIndex(VectorOptions(model="other")).load(tmp_path / "a.vec")
    with pytest.raises(InvalidArgument, match=r"dimension 7, this index is for 8"):
        VectorIndex(VectorOptions(dimension=8)).load(tmp_path / "a.vec")
    index = VectorIndex(VectorOptions(model="modèle", dimension=7))
    index.load(tmp_path / "a.vec")
    VectorIndex(VectorOptions(dimension=2)).save(tmp_path / "untagged.vec")
    with pytest.raises(VectorFileError, match="a model that it does not name"):
        VectorIndex(VectorOptions(model="other")).load(tmp_path / "untagged.vec")


def test_a_save_that_fails_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    saved(tmp_path / "a.vec")
    before = (tmp_path / "a.vec").read_bytes()
    limit = (
        "import resource, signal, sys\n"
        "import numpy as np\n"
        "from actors.errors import VectorFileError\n"
        "from actors.store import VectorIndex\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "index = VectorIndex()\n"
        "index.add_many([str(n) for n in range(9_000)], np.ones((9_000, 64)))\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "try:\n    index.save(sys.argv[1])\n"
        "except VectorFileError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", limit, str(tmp_path / "a.vec")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert os.strerror(errno.EFBIG) in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["a.vec"]
    assert (tmp_path / "a.vec").read_bytes() == before
    assert stat.S_IMODE((tmp_path / "a.vec").stat().st_mode) & stat.S_IRUSR


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    for path in (tmp_path / "file" / "a.vec", tmp_path):
        with pytest.raises(VectorFileError, match="cannot save vectors to"):
            VectorIndex().save(path)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
