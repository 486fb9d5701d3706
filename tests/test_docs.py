"""The documentation tells the truth: its programs run, its tables name what there is.

Every ```` ```python ```` block of the README and of `docs/` is one whole program. It runs in a process of its
own with warnings as errors. A block that uses `AgentConfig()` finds a scripted server at LEMONADE_BASE_URL
that answers every question. A block with `provider="local"` runs where the local model is there.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from actors.config import AgentConfig
from actors.config_names import gaia_name
from actors.errors import LocalModelError
from actors.model.catalogue import DEFAULT_MODEL
from actors.model.model_files import find_model
from actors.testing import RecordedRequest, ScriptedModelServer, SSEReply, answer, answer_chunks
from actors.testing.replies import Reply
from tests.source_tree import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LOCAL = 'provider="local"'
LIMIT_S = 50
LOCAL_LIMIT_S = 240


def programs() -> Iterator[Any]:
    """Each block, named by its page and its place there."""
    for page in PAGES:
        blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
        for number, code in enumerate(blocks, 1):
            marks = [pytest.mark.real, pytest.mark.time_limit(LOCAL_LIMIT_S)] * (LOCAL in code)
            name = f"{page.relative_to(ROOT).as_posix()}-{number}"
            yield pytest.param(code, id=name, marks=marks)


def answer_anything(request: RecordedRequest) -> Reply:
    """The same answer to every question, in pieces if that is asked for."""
    if request.json.get("stream"):
        return SSEReply(answer_chunks("An ", "answer."))
    return answer("An answer.")


@pytest.mark.parametrize("code", list(programs()))
def test_program_of_the_documentation_runs(code: str, tmp_path: Path) -> None:
    local = LOCAL in code
    if local and not has_local_model():
        pytest.skip(f"the model {DEFAULT_MODEL!r} is not there: greenroom model pull")
    with ScriptedModelServer(answer_anything) as server:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code],
            cwd=tmp_path,
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT),
                "NO_COLOR": "1",
                "LEMONADE_BASE_URL": server.base_url,
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LOCAL_LIMIT_S if local else LIMIT_S,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert "Exception ignored in" not in done.stderr, done.stderr


def has_local_model() -> bool:
    """Whether the default model can be served here."""
    try:
        return not find_model(DEFAULT_MODEL).remark
    except LocalModelError:
        return False


# -- the table of settings ----------------------------------------------------------------------------

ROW = re.compile(r"^\| `(\w+)` \| `(\w+)` \| ([^|]*) \| ([^|]+) \|$", re.MULTILINE)


def shown_default(name: str) -> str:
    """How the table writes the default of a setting."""
    value = getattr(AgentConfig(), name)
    match value:
        case _ if name in ("model", "base_url"):
            return "by provider"
        case None:
            return "none"
        case "":
            return "empty"
        case str():
            return f"`{value}`"
        case tuple():
            return ", ".join(f"`{each}`" for each in value)
    return f"`{json.dumps(value)}`"


def test_every_setting_is_in_the_table_with_its_names_and_its_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("GAIA_STREAMING", raising=False)
    page = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    table = {row[0]: (row[1], row[2]) for row in ROW.findall(page)}
    names = AgentConfig.__struct_fields__
    assert table == {name: (gaia_name(name), shown_default(name)) for name in names}
    assert [row[0] for row in ROW.findall(page)] == list(names)
