"""Local references."""

from __future__ import annotations

from typing import Any

import pytest

from actors.model.json_pointer import MISSING, target_of

ROOT: Any = {"$defs": {"a": {"type": "string"}, "b/c~d": 1, "é x": 2}, "list": ["zero", {"k": 3}]}


@pytest.mark.parametrize(
    ("reference", "target"),
    [
        ("#", ROOT),
        ("#/$defs/a", {"type": "string"}),
        ("#/$defs/b~1c~0d", 1),
        ("#/$defs/%C3%A9%20x", 2),
        ("#/list/0", "zero"),
        ("#/list/1/k", 3),
        ("#/list/2", MISSING),
        ("#/list/-1", MISSING),
        ("#/list/²", MISSING),
        ("#/$defs/z", MISSING),
        ("#/$defs/a/type/0", MISSING),
        ("#anchor", MISSING),
        ("other.json#/a", MISSING),
        ("https://example.com/a", MISSING),
        ("", MISSING),
    ],
)
def test_a_reference_leads_to_its_place_or_nowhere(reference: str, target: Any) -> None:
    assert target_of(reference, ROOT) is target or target_of(reference, ROOT) == target
