"""`--tools module:name` finds tools of every form, and says what is wrong."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.cli.demo_tools import DEMO_TOOLS
from actors.cli.tool_loading import current_directory, importing_from, load_tools
from actors.errors import InvalidArgument

SOURCE = '''
from actors.tools.decorator import tool

def shout(text: str) -> str:
    """Make a text loud."""
    return text.upper()

@tool
def whisper(text: str) -> str:
    """Make a text quiet."""
    return text.lower()

both = [shout, whisper]
number = 7

class Box:
    inner = whisper

def __getattr__(name):
    raise (RuntimeError if name == "odd" else AttributeError)(name)
'''


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Path]:
    """A directory with modules, which Python imports from within the test only."""
    before = set(sys.modules)
    (tmp_path / "my_voices.py").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "my_broken.py").write_text("1 / 0\n", encoding="utf-8")
    (tmp_path / "my_leaver.py").write_text("raise SystemExit(7)\n", encoding="utf-8")
    (tmp_path / "my_needy.py").write_text("import not_there_at_all\n", encoding="utf-8")
    with importing_from(tmp_path):
        yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith("my_"):
            del sys.modules[name]


@pytest.mark.parametrize(
    ("named", "found"),
    [
        ("my_voices:shout", ["shout"]),
        ("my_voices:whisper", ["whisper"]),
        ("my_voices:both", ["shout", "whisper"]),
        ("my_voices:Box.inner", ["whisper"]),
    ],
)
@pytest.mark.usefixtures("here")
def test_a_name_stands_for_tools(named: str, found: list[str]) -> None:
    assert [tool.spec.name for tool in load_tools([named])] == found


@pytest.mark.usefixtures("here")
def test_several_names_keep_their_order() -> None:
    tools = load_tools(["my_voices:whisper", "my_voices:shout"])
    assert [tool.spec.name for tool in tools] == ["whisper", "shout"]


@pytest.mark.parametrize(
    ("named", "complaint"),
    [
        ("my_voices", "expects module:name"),
        (":shout", "expects module:name"),
        ("my_voices:", "expects module:name"),
        ("my_voices:sing", "has no 'sing'"),
        ("my_voices:number", "expected a tool, a function or a list of them, got int"),
        ("my_voices:Box", "got type"),
        ("my_missing:shout", "there is no module 'my_missing'"),
        ("my_broken:x", "importing 'my_broken' raised ZeroDivisionError"),
        ("my_leaver:x", "importing 'my_leaver' raised SystemExit: 7"),
        ("my_voices:odd", "'odd' raised RuntimeError: odd"),
        ("my_needy:x", "'my_needy' needs 'not_there_at_all'"),
    ],
)
@pytest.mark.usefixtures("here")
def test_what_is_wrong_is_said(named: str, complaint: str) -> None:
    with pytest.raises(InvalidArgument, match=complaint):
        load_tools([named])


def test_the_directory_is_importable_within_the_block_only(tmp_path: Path) -> None:
    before = list(sys.path)
    with importing_from(tmp_path):
        assert sys.path[0] == str(tmp_path)
    assert sys.path == before


def test_a_directory_that_was_removed_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(InvalidArgument, match="the current directory is not there any more"):
        current_directory()


def test_the_demonstration_tools_do_what_they_say() -> None:
    names = [tool.spec.name for tool in DEMO_TOOLS]
    assert names == ["add", "multiply", "word_count", "current_time"]
