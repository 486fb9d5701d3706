"""The command line as a whole: help, wrong use, exit codes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

import pytest

from actors.cli.main import main
from actors.cli.session import AnswersQueries, SessionPlan
from actors.errors import LocalModelError, ModelUnavailable


@pytest.mark.parametrize(
    "arguments",
    [["--help"]] + [[name, "--help"] for name in ("run", "chat", "model", "doctor")],
    ids=str,
)
def test_help_fits_a_screen(
    arguments: Sequence[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80


def test_help_tells_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--help"])
    said = capsys.readouterr().out
    assert "0 answered, 1 no answer, 2 wrong usage, 3 no model, 130 interrupted" in said
    assert "143 terminated" in said


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("greenroom ")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "required: COMMAND"),
        (["sing"], "invalid choice: 'sing'"),
        (["run"], "required: QUESTION"),
        (["run", "why?", "--max-steps", "0"], "expected a number of steps above 0, got '0'"),
        (["run", "why?", "--provider", "oracle"], "invalid choice: 'oracle'"),
        (["run", "why?", "--quiet", "--json-events"], "not allowed with"),
        (["run", " "], "the question is empty"),
        (["run", "why?", "--tools", "nothing"], "--tools expects module:name"),
        (["run", "why?", "--model", ""], "model"),
        (["run", "why?", *["--tools", "actors.cli.demo_tools:add"] * 2], "registered already"),
    ],
)
def test_wrong_use_is_explained_and_ends_with_2(
    arguments: Sequence[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert complaint in captured.err
    assert captured.out == ""


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (LocalModelError("no such model here"), 3, "greenroom: error: no such model here\n"),
        (ModelUnavailable("nobody there"), 1, "greenroom: error: nobody there\n"),
        (RuntimeError(), 1, "greenroom: error: RuntimeError\n"),
        (KeyboardInterrupt(), 130, "greenroom: interrupted\n"),
    ],
)
def test_an_error_becomes_a_line_and_a_code(
    error: BaseException, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(plan: SessionPlan) -> AbstractContextManager[AnswersQueries]:
        raise error

    assert main(["run", "why?"], open_session=fail) == code
    assert capsys.readouterr().err == said


def test_a_traceback_is_shown_with_debug_only(capsys: pytest.CaptureFixture[str]) -> None:
    def fail(plan: SessionPlan) -> AbstractContextManager[AnswersQueries]:
        raise RuntimeError("odd")

    main(["run", "why?", "--debug"], open_session=fail)
    assert "Traceback" in capsys.readouterr().err
