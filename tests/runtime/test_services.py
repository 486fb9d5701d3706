"""Services: started once, brought back however often they fail."""

from __future__ import annotations

from runtime.testing import VirtualSystem
from tests.runtime.players import LIMIT_S, Player, fail


def test_a_service_that_fails_again_and_again_is_brought_back_and_the_system_lives() -> None:
    with VirtualSystem() as system:
        service = system.ensure(Player, name="service")
        for _ in range(20):
            service.tell(fail())
            assert service.ask(lambda _: "here", timeout=LIMIT_S * 10) == "here"
        assert system.failure is None


def test_a_service_that_is_there_is_not_started_again() -> None:
    with VirtualSystem() as system:
        assert system.ensure(Player, name="one") == system.ensure(Player, name="one")
