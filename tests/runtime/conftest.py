"""Systems for the tests of the runtime: on asyncio's loop, on both loops, on virtual time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from runtime import ActorSystem
from runtime.testing import VirtualSystem


@pytest.fixture
def system() -> Iterator[ActorSystem]:
    """A system on asyncio's loop."""
    with ActorSystem("test", uvloop=False) as system:
        yield system


@pytest.fixture(params=[False, True], ids=["asyncio", "uvloop"])
def any_system(request: pytest.FixtureRequest) -> Iterator[ActorSystem]:
    """A system on each of the two loops, for what the loop may have a say in."""
    with ActorSystem("test", uvloop=request.param) as system:
        yield system


@pytest.fixture
def virtual() -> Iterator[VirtualSystem]:
    """A system on virtual time."""
    with VirtualSystem() as system:
        yield system
