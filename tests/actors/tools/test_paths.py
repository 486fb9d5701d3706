"""Paths inside a folder, on a real disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.tools.paths import validate_path


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder `base`, a sibling whose name begins the same, and links in every direction."""
    for name in ("base/in.txt", "base/sub/deep.txt", "base2/x.txt", "outside.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "base/link-out").symlink_to(tmp_path / "outside.txt")
    (tmp_path / "base/link-in").symlink_to(tmp_path / "base/in.txt")
    (tmp_path / "base/loop").symlink_to("loop")
    (tmp_path / "base/broken").symlink_to("nowhere")
    (tmp_path / "alias").symlink_to(tmp_path / "base")
    return tmp_path


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("base", True),
        ("base/in.txt", True),
        ("base/sub/deep.txt", True),
        ("base/sub/../in.txt", True),
        ("base/link-in", True),
        ("alias/in.txt", True),
        ("base/../outside.txt", False),
        ("base/link-out", False),
        ("base2/x.txt", False),
        ("base2", False),
        ("outside.txt", False),
        ("base/missing.txt", False),
        ("base/broken", False),
        ("base/loop", False),
        (".", False),
    ],
)
def test_inside_is_what_lies_there_after_links_and_dots(
    tree: Path, path: str, inside: bool
) -> None:
    assert validate_path(str(tree / "base"), f"{tree}/{path}") is inside
    assert validate_path(str(tree / "alias"), f"{tree}/{path}") is inside


def test_relative_paths_start_at_the_working_directory(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tree)
    assert validate_path("base", "base/in.txt")
    assert not validate_path("base", "in.txt")


@pytest.mark.parametrize(
    ("base", "path"), [("", "x"), ("x", ""), ("", ""), ("\0", "x"), (".", "a\0")]
)
def test_what_is_no_path_is_nowhere(base: str, path: str) -> None:
    assert not validate_path(base, path)


def test_a_base_that_is_not_there_holds_nothing(tree: Path) -> None:
    assert not validate_path(str(tree / "missing"), str(tree / "base/in.txt"))
