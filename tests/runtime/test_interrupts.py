"""KeyboardInterrupt and SystemExit in an actor stop its own system, in order, and no other one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from runtime import Actor, ActorDeadError, ActorSystem, BlockingActor
from tests.runtime.players import LIMIT_S, BlockingPlayer, Held, Noted, Player, until

Place = Callable[[ActorSystem, BaseException], None]


def raise_it(error: BaseException) -> Callable[[Any], Any]:
    """A message that raises."""

    def interrupt(_: Any) -> None:
        raise error

    return interrupt


def in_plain_handler(system: ActorSystem, error: BaseException) -> None:
    system.spawn(Player).tell(raise_it(error))


def in_asked_handler(system: ActorSystem, error: BaseException) -> None:
    with pytest.raises(ActorDeadError, match="interrupted"):
        system.spawn(Player).ask(raise_it(error), timeout=LIMIT_S)


def in_async_handler(system: ActorSystem, error: BaseException) -> None:
    async def interrupt(_: Any) -> None:
        raise error

    system.spawn(Player).tell(interrupt)


def in_background_work(system: ActorSystem, error: BaseException) -> None:
    async def interrupt() -> None:
        raise error

    system.spawn(Player).tell(lambda self: self.background(interrupt()))


def in_timer_message(system: ActorSystem, error: BaseException) -> None:
    system.spawn(Player).tell(lambda self: self.send_after(0.0, raise_it(error)))


def in_on_start(system: ActorSystem, error: BaseException) -> None:
    class Starts(Actor):
        def on_start(self) -> None:
            raise error

    system.spawn(Starts)


def in_async_on_start(system: ActorSystem, error: BaseException) -> None:
    class Starts(Actor):
        async def on_start(self) -> None:
            raise error

    system.spawn(Starts)


def in_on_stop(system: ActorSystem, error: BaseException) -> None:
    class Stops(Actor):
        def on_stop(self) -> None:
            raise error

    system.spawn(Stops).stop(block=False)


def in_signal(system: ActorSystem, error: BaseException) -> None:
    class Signalled(Actor):
        def on_signal(self, signal: Any) -> None:
            raise signal

    ref = system.spawn(Signalled)
    ref.ask("running", timeout=LIMIT_S)
    ref.signal(error)


def in_blocking_handler(system: ActorSystem, error: BaseException) -> None:
    system.spawn(BlockingPlayer).tell(raise_it(error))


def in_asked_blocking_handler(system: ActorSystem, error: BaseException) -> None:
    with pytest.raises(ActorDeadError, match="interrupted"):
        system.spawn(BlockingPlayer).ask(raise_it(error), timeout=LIMIT_S)


def in_blocking_on_start(system: ActorSystem, error: BaseException) -> None:
    class Starts(BlockingActor):
        def on_start(self) -> None:
            raise error

    system.spawn(Starts)


def in_batch(system: ActorSystem, error: BaseException) -> None:
    class Batched(BlockingActor):
        def on_batch(self, messages: Any) -> Any:
            raise error

    with pytest.raises(ActorDeadError, match="interrupted"):
        system.spawn(Batched).ask("x", timeout=LIMIT_S)


PLACES: list[Place] = [
    in_plain_handler,
    in_asked_handler,
    in_async_handler,
    in_background_work,
    in_timer_message,
    in_on_start,
    in_async_on_start,
    in_on_stop,
    in_signal,
    in_blocking_handler,
    in_asked_blocking_handler,
    in_blocking_on_start,
    in_batch,
]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("uvloop", [False, True], ids=["asyncio", "uvloop"])
def test_an_interrupt_stops_its_own_system_in_order(
    place: Place, error: type[BaseException], uvloop: bool
) -> None:
    notes: list[str] = []
    with ActorSystem("bystander", uvloop=uvloop) as bystander:
        witness = bystander.spawn(Player)
        with ActorSystem("interrupted", uvloop=uvloop) as system:
            system.spawn(Noted, "neighbour", notes).ask(lambda _: None, timeout=LIMIT_S)
            place(system, error())
            until(lambda: system.ended)
        assert notes == ["start neighbour", "stop neighbour"]
        assert isinstance(system.failure, error)
        assert system.abandoned_work == []
        assert witness.ask(lambda _: "lives", timeout=LIMIT_S) == "lives"


def test_an_interrupt_in_a_blocking_batch_loses_none_of_its_messages() -> None:
    with ActorSystem("interrupted", uvloop=False) as system:
        ref, held = system.spawn(BlockingPlayer), Held()
        ref.tell(held.work)
        held.wait()
        first = ref.ask(raise_it(KeyboardInterrupt()), block=False)
        rest = [ref.ask(lambda _: "handled", block=False) for _ in range(3)]
        held.release()
        with pytest.raises(ActorDeadError, match="interrupted"):
            first.get(timeout=LIMIT_S)
        for reply in rest:
            try:
                assert reply.get(timeout=LIMIT_S) == "handled"
            except ActorDeadError:
                pass  # the stop was faster; either is one fate
        until(lambda: system.ended)


def test_an_interrupt_out_of_a_reply_callback_leaves_the_loop_working() -> None:
    """It passes through the drain of the run queue, which must go on to stop the system."""

    def interrupt(_: Any) -> None:
        raise KeyboardInterrupt

    with ActorSystem("interrupted", uvloop=False) as system:
        ref = system.spawn(Player)
        reply = ref.ask(lambda _: 1, block=False)
        held = Held()
        ref.tell(held.awork)
        held.wait()
        asked = ref.ask(lambda _: 1, block=False)
        asked.add_done_callback(interrupt)
        held.release()
        until(lambda: system.ended)
        assert reply.get(timeout=LIMIT_S) == 1
