"""Words for a shell's command line."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.tools.shell_args import is_safe_shell_arg


@pytest.mark.parametrize(
    "text", ["hello", "dash-ok", "path/to/file", "C:\\dir\\f", "a+b@c:1", "naïve", "-x", "a,b", "."]
)
def test_plain_words_pass(text: str) -> None:
    assert is_safe_shell_arg(text)


@pytest.mark.parametrize("special", list(" \t\n\r;|&<>$`\"'!{}()[]~*?#^%=\0"))
def test_no_character_that_means_something_passes(special: str) -> None:
    assert not is_safe_shell_arg(special)
    assert not is_safe_shell_arg(f"a{special}b")


def test_an_empty_word_would_vanish() -> None:
    assert not is_safe_shell_arg("")


@given(st.text(st.characters(codec="ascii")))
def test_what_passes_is_one_word_to_a_shell(text: str) -> None:
    if is_safe_shell_arg(text) and "\\" not in text:
        assert shlex.split(text) == [text]


def test_a_real_shell_hands_it_on_as_it_is() -> None:
    every = "".join(chr(code) for code in range(33, 127) if is_safe_shell_arg(chr(code)))
    text = every.replace("\\", "")
    done = subprocess.run(
        ["/bin/sh", "-c", f"printf %s -{text}"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"-{text}"
