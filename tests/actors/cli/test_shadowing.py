"""Doctor sees who else calls itself `runtime` or `actors`."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from actors.cli.shadowing import OURS, place_of, shadowing


def test_nothing_shadows_ours_here(tmp_path: Path) -> None:
    (finding,) = shadowing(tmp_path, owners={"runtime": ["greenroom"], "actors": ["greenroom"]})
    assert finding.mark == "ok"


def test_our_own_directory_is_no_shadow() -> None:
    (finding,) = shadowing(OURS, owners={})
    assert finding.mark == "ok"


@pytest.mark.parametrize("path", ["runtime.py", "runtime/__init__.py"])
def test_a_module_in_the_directory_is_named(tmp_path: Path, path: str) -> None:
    (tmp_path / path).parent.mkdir(exist_ok=True)
    (tmp_path / path).write_text("", encoding="utf-8")
    (finding,) = shadowing(tmp_path, owners={})
    assert finding.mark == "problem"
    assert str(tmp_path / path.split("/", maxsplit=1)[0]) in finding.text
    assert "rename" in finding.advice


def test_a_directory_without_init_hides_nothing(tmp_path: Path) -> None:
    (tmp_path / "actors").mkdir()
    (finding,) = shadowing(tmp_path, owners={})
    assert finding.mark == "ok"


def test_another_distribution_is_named(tmp_path: Path) -> None:
    (finding,) = shadowing(tmp_path, owners={"actors": ["greenroom", "theatre"]})
    assert finding.mark == "problem"
    assert "theatre" in finding.text


def test_a_process_that_imported_another_one_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "runtime.py").write_text("", encoding="utf-8")
    monkeypatch.delitem(sys.modules, "runtime", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    marks = [finding for finding in shadowing(OURS, owners={}) if finding.mark == "problem"]
    assert [str(tmp_path / "runtime.py") in finding.text for finding in marks] == [True]


def test_the_place_of_a_package_is_its_directory() -> None:
    assert place_of(find_spec("actors")) == OURS / "actors"
    assert place_of(None) is None
