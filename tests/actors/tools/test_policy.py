"""The order of the policies."""

from __future__ import annotations

import itertools

import pytest

from actors.tools.policy import ToolPolicy, stricter


def test_deny_is_stricter_than_confirm_and_confirm_than_allow() -> None:
    assert ToolPolicy.ALLOW < ToolPolicy.CONFIRM < ToolPolicy.DENY


@pytest.mark.parametrize(("one", "other"), list(itertools.product(ToolPolicy, repeat=2)))
def test_the_stricter_of_two_is_the_larger_one_in_any_order(
    one: ToolPolicy, other: ToolPolicy
) -> None:
    assert stricter(one, other) is stricter(other, one) is max(one, other)
