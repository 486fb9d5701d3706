"""`pytest tests/conformance --cases DIR` runs the case files below another directory of the same layout."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.areas import AREAS, SKIPPED

HERE = Path(__file__).resolve().parent


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each case of each area file found."""
    if "case" not in metafunc.fixturenames:
        return
    root = Path(metafunc.config.getoption("--cases") or HERE.parent / "cases")
    files = sorted(root.glob("gaia/*.json")) + sorted(root.glob("vix/*.json"))
    if not files:
        raise pytest.UsageError(f"--cases {root}: expected {root}/gaia/*.json or {root}/vix/*.json")
    metafunc.parametrize(("area", "case"), [p for file in files for p in _cases_of(file)])


def _cases_of(file: Path) -> list[Any]:
    area = f"{file.parent.name}/{file.stem}"
    cases: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    if area not in AREAS:
        missing = pytest.mark.skip(reason=f"area {area} has no adapter yet ({len(cases)} cases)")
        return [pytest.param(area, {}, id=area, marks=missing)]
    return [pytest.param(area, case, id=case["id"], marks=_marks(case["id"])) for case in cases]


def _marks(case_id: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.skip(reason=SKIPPED[case_id])] if case_id in SKIPPED else []
