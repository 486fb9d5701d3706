"""The log of a command is for its user: no tracebacks, unless asked for."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from actors.cli.logs import send_logs_to_stderr
from runtime.events import log


@contextmanager
def bare_root() -> Iterator[None]:
    """Within the block the root logger has no handlers; pytest's own are back afterwards."""
    root, ours = logging.getLogger(), logging.getLogger("greenroom")
    handlers, level = root.handlers[:], ours.level
    root.handlers[:] = []
    try:
        yield
    finally:
        root.handlers[:] = handlers
        ours.setLevel(level)


def fail(text: str) -> None:
    try:
        raise ValueError(text)
    except ValueError:
        log.exception("actor_failed", system="s", actor="/user/agent")
        logging.getLogger("elsewhere").exception("odd")


@pytest.mark.parametrize("text", ["plain", "it's quoted otherwise"])
def test_a_line_ends_before_its_traceback(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with bare_root():
        send_logs_to_stderr(debug=False)
        fail(text)
    assert capsys.readouterr().err == (
        "ERROR greenroom: event='actor_failed' system='s' actor='/user/agent'\nERROR elsewhere: odd\n"
    )


def test_with_debug_tracebacks_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with bare_root():
        send_logs_to_stderr(debug=True)
        fail("plain")
    assert capsys.readouterr().err.count("Traceback (most") >= 2
