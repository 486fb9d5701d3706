"""Doctor tells what is there and what to do."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from actors.cli.doctor import addresses, event_loop, local_models, report
from actors.cli.finding import Finding
from actors.cli.installation import optional, python
from actors.cli.main import main
from actors.output.console import Console
from actors.testing.model_server import ScriptedModelServer
from actors.testing.replies import JsonReply


def test_a_problem_makes_the_exit_code_1_and_shows_its_advice() -> None:
    stream = io.StringIO()
    findings = [Finding("ok", "well"), Finding("problem", "odd", "mend it")]
    assert report(findings, Console(stream)) == 1
    assert (
        stream.getvalue() == "ok      well\nproblem odd\n        -> mend it\n1 problem(s) found\n"
    )


def test_notes_are_no_problem() -> None:
    assert report([Finding("note", "no model", "pull one")], Console(io.StringIO())) == 0


def test_an_old_python_is_a_problem() -> None:
    assert python((3, 10, 9)).mark == "problem"
    assert python((3, 11, 0)).mark == "ok"


def test_a_missing_extra_says_how_to_install_it() -> None:
    finding = optional("sing", "a-package-nobody-has", "to sing")
    assert finding.mark == "note"
    assert finding.advice == "to sing: pip install 'greenroom[sing]'"


def test_the_event_loop_is_named() -> None:
    assert event_loop().text in ("event loop: asyncio", "event loop: uvloop")


def test_a_cache_that_cannot_be_named_is_a_problem() -> None:
    finding = local_models({"GREENROOM_CACHE_DIR": "~nobody-of-this-name/models"})
    assert finding.mark == "problem"
    assert "set GREENROOM_CACHE_DIR" in finding.text


def test_each_server_is_asked_once() -> None:
    lemonade = "http://localhost:13305/api/v1"
    assert [url for _, url in addresses(lemonade, {})].count(lemonade) == 1
    assert addresses("http://there/v1", {})[0] == ("the server you named", "http://there/v1")
    named = addresses(None, {"LEMONADE_BASE_URL": "http://elsewhere"})
    assert ("Lemonade", "http://elsewhere/api/v1") in named


def test_the_whole_report_names_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GREENROOM_CACHE_DIR", str(tmp_path))
    listing = JsonReply({"data": [{"id": "a-model"}]})
    with ScriptedModelServer(routes={"GET /models": listing}) as server:
        assert main(["doctor", "--base-url", server.base_url]) == 0
    said = capsys.readouterr().out
    for text in ("Python 3.", "greenroom", "event loop", "are ours", "has a-model", "Ollama"):
        assert text in said
    assert str(tmp_path) in said
