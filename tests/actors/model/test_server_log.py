"""What a server's log and end become in an error message."""

from __future__ import annotations

import pytest

from actors.model.server_log import LOG_BYTES, LogTail, how_it_ended

BROKEN = b"""0.00.003.042 E gguf_init_from_reader: invalid magic
0.00.003.100 W srv  init: a warning
0.00.003.172 E llama_model_load:   error loading model
0.00.003.185 E third: third
0.00.003.222 E fourth: fourth
Traceback (most recent call last):
"""


def test_an_empty_log_says_nothing() -> None:
    assert LogTail().said() == ""


def test_the_first_errors_are_said() -> None:
    log = LogTail()
    log.feed(BROKEN)
    assert log.said() == (
        ": gguf_init_from_reader: invalid magic; llama_model_load: error loading model; third: third"
    )


def test_without_errors_the_last_lines_of_others_are_said() -> None:
    log = LogTail()
    log.feed(b"one\ntwo\n0.01.496.887 W load: a warning\n\nthree\nfour")
    assert log.said() == ": three; four"


def test_a_long_log_is_kept_from_its_end() -> None:
    log = LogTail()
    for _ in range(100):
        log.feed(b"x" * (LOG_BYTES // 10))
    log.feed(b"\nthe end\n")
    assert log.said().endswith("the end")
    assert len(log.said()) <= 402


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (0, "ended with status 0"),
        (1, "ended with status 1"),
        (-15, "was ended by SIGTERM"),
        (-100, "was ended by signal 100"),
    ],
)
def test_the_end_is_told_in_words(status: int, words: str) -> None:
    assert how_it_ended(status) == words


@pytest.mark.parametrize(("status", "hint"), [(-9, "memory ran out"), (-4, "AVX2")])
def test_a_signal_with_a_usual_reason_names_it(status: int, hint: str) -> None:
    assert hint in how_it_ended(status)
