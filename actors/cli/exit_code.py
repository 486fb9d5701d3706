"""What the command's exit code says; part of its interface, told in `--help` and docs/cli.md."""

from __future__ import annotations

from enum import IntEnum

from actors.agent.result import Outcome


class ExitCode(IntEnum):
    """* `ANSWERED`: there is an answer, or the command did what it was asked.
    * `NO_ANSWER`: the model could not be asked, or gave none within the rules; or doctor found a problem.
    * `WRONG_USE`: the command line, a setting or a tool is wrong.
    * `NO_MODEL`: the local model is not there and cannot be had.
    * `INTERRUPTED`: Ctrl-C.
    * `TERMINATED`: SIGTERM.
    """

    ANSWERED = 0
    NO_ANSWER = 1
    WRONG_USE = 2
    NO_MODEL = 3
    INTERRUPTED = 130
    TERMINATED = 143


def code_of(outcome: Outcome) -> ExitCode:
    """The exit code of a turn that ended so."""
    return ExitCode.ANSWERED if outcome == "answered" else ExitCode.NO_ANSWER
