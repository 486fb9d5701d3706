"""The checked-in files: nothing of one machine or registry, and documents that tell the truth."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.source_tree import ROOT, project_files

LOCK_FILES = {
    "uv.lock",
    "poetry.lock",
    "pdm.lock",
    "Pipfile.lock",
    "pylock.toml",
    "package-lock.json",
}

# Written so that this file does not hold what it looks for.
REGISTRY_HOSTS = re.compile(
    r"pypi\.(?:org|python)|pythonhosted\.|npmjs\.|(?:index|registry)-url|crates\.io|conda\.anaconda"
)
HOME_PATHS = re.compile(r"(?<![\w.\-])/(?:home|root|Users|work|opt|mnt)/[\w.]")

MAKE_COMMAND = re.compile(r"(?:^|`|\$ )make((?: +[a-z]+)+)", re.MULTILINE)
MAKE_TARGET = re.compile(r"^([a-z]+):", re.MULTILINE)
LOCAL_LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)]*)?\)")

TEXT_FILES = [
    path
    for path in project_files()
    if path.name != Path(__file__).name and not path.is_relative_to(ROOT / "tests" / "cases")
]
DOCUMENTS = [path for path in project_files() if path.suffix == ".md"]


def name_of(path: Path) -> str:
    """A path as a test id."""
    return path.relative_to(ROOT).as_posix()


def lines_with(pattern: re.Pattern[str]) -> list[str]:
    """Where a pattern stands in the project's text."""
    return [
        f"{name_of(path)}:{number}: {line.strip()[:100]}"
        for path in TEXT_FILES
        for number, line in enumerate(
            path.read_text(encoding="utf-8", errors="replace").splitlines(), 1
        )
        if pattern.search(line)
    ]


def make_targets() -> set[str]:
    """What `make` can be asked for."""
    return set(MAKE_TARGET.findall((ROOT / "Makefile").read_text(encoding="utf-8")))


def test_no_registry_is_named() -> None:
    assert not lines_with(REGISTRY_HOSTS)


def test_no_path_of_one_machine_is_named() -> None:
    here = re.compile(rf"(?<![\w.\-]){re.escape(str(ROOT))}\b|{HOME_PATHS.pattern}")
    assert not lines_with(here)


def test_no_lock_file_is_checked_in() -> None:
    assert not [name_of(path) for path in project_files() if path.name in LOCK_FILES]


def test_no_file_is_large() -> None:
    assert not [name_of(path) for path in project_files() if path.stat().st_size > 500_000]


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_make_commands_of_a_document_exist(document: Path) -> None:
    named = {
        target
        for words in MAKE_COMMAND.findall(_code_of(document.read_text(encoding="utf-8")))
        for target in words.split()
    }
    assert named <= make_targets()


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_links_of_a_document_lead_somewhere(document: Path) -> None:
    targets = LOCAL_LINK.findall(document.read_text(encoding="utf-8"))
    assert not [target for target in targets if not (document.parent / target).exists()]


def test_the_two_commands_of_the_readme_are_those_of_the_makefile() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make run" in readme
    assert "make test" in readme
    assert {"run", "test", "lint", "bench", "clean"} <= make_targets()


def test_continuous_integration_runs_the_test_command_of_the_readme() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "make test" in script.read_text(encoding="utf-8")


def test_every_example_is_listed() -> None:
    listing = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    examples = {path.name for path in (ROOT / "examples").glob("*.py")}
    assert not {name for name in examples if f"`{name}`" not in listing}
    assert not set(re.findall(r"`(\w+\.py)`", listing)) - examples


def test_every_page_of_the_documentation_is_in_its_index() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert not {page for page in pages - {"index.md"} if f"({page})" not in index}


def _code_of(document: str) -> str:
    """The code of a Markdown text: its fenced blocks and its spans in backticks."""
    fenced = re.findall(r"^```[^\n]*\n(.*?)^```", document, re.MULTILINE | re.DOTALL)
    spans = [f"`{span}`" for span in re.findall(r"`([^`\n]+)`", document)]
    return "\n".join([*fenced, *spans])
