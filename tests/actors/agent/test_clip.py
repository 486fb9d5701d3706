"""Clipping of long tool results."""

from __future__ import annotations

import pytest

from actors.agent.clip import MARKER, clip


@pytest.mark.parametrize("text", ["", "x", "x" * 4000, "é" * 4000])
def test_a_text_up_to_the_limit_is_left_alone(text: str) -> None:
    assert clip(text) == text


def test_a_longer_text_keeps_head_and_tail_around_a_marker() -> None:
    text = "h" * 2000 + "m" * 501 + "t" * 1500
    assert clip(text) == "h" * 2000 + MARKER + "t" * 1500
    assert len(clip(text)) == 3519


@pytest.mark.parametrize("filler", ["é", "漢", "😀"])
def test_no_character_is_cut_in_half(filler: str) -> None:
    clipped = clip("a" + filler * 5000)
    assert clipped.encode().decode() == clipped
    assert set(clipped) == {"a", filler, *MARKER}
