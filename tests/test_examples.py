"""Every example runs as it stands, from any directory, and says something.

Each file of `examples/` runs in its own process with warnings as errors, no input, no network but loopback
and a bound on its time; it must end by itself with status 0.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.source_tree import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
LIMIT_S = 50


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_example_runs(example: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(example)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip(), "an example prints what it shows"
    assert "Exception ignored in" not in done.stderr, done.stderr


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_example_says_what_it_shows(example: Path) -> None:
    assert ast.get_docstring(ast.parse(example.read_text(encoding="utf-8")))
