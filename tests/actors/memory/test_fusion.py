"""Reciprocal rank fusion: what is high in several rankings is high in the one."""

from __future__ import annotations

from actors.memory.fusion import fuse


def test_what_both_rankings_know_is_before_what_one_knows() -> None:
    fused = fuse([["a", "b", "c"], ["d", "c"]])
    assert [item for item, _ in fused] == ["c", "a", "d", "b"]
    assert dict(fused)["c"] == 1 / 63 + 1 / 62


def test_equal_items_keep_the_order_they_came_in() -> None:
    assert [item for item, _ in fuse([["x"], ["y"], ["z"]])] == ["x", "y", "z"]
    assert fuse([]) == fuse([[], []]) == []
