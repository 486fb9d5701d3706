"""Beside plain pykka: its actors tell, ask, stop and proxy ours, and ours theirs; and ours behave as its."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from typing import Any

import pykka
import pytest

from runtime import (
    Actor,
    ActorDeadError,
    ActorSystem,
    AskCycle,
    BlockingActor,
    BlockingCallOnLoop,
    ChildSpec,
    Reply,
    Supervisor,
    Timeout,
    as_reply,
    default_system,
)
from tests.runtime.players import LIMIT_S, Boom, Echo, Held, Player, Strict, until


class PlainPlayer(pykka.ThreadingActor):
    """A plain pykka actor that does what the message, a function, does with it."""

    use_daemon_thread = True

    def __init__(self) -> None:
        super().__init__()
        self.attribute = "theirs"

    def on_receive(self, message: Any) -> Any:
        return message(self)

    def method(self, value: int) -> int:
        return value + 1


class Playback:
    """A nested object that a proxy may reach into."""

    pykka_traversable = True

    def __init__(self) -> None:
        self.position = 0

    def seek(self, position: int) -> int:
        self.position = position
        return position


class Proxied(Actor):
    """With attributes, methods, async methods and a nested object."""

    def __init__(self) -> None:
        super().__init__()
        self.attribute = "ours"
        self.playback = Playback()
        self._private = "not reachable"

    def method(self, value: int, *, factor: int = 1) -> int:
        return value * factor

    async def slow_method(self, value: int) -> int:
        await asyncio.sleep(0)
        return value

    async def slow_failure(self) -> None:
        await asyncio.sleep(0)
        raise Boom

    def failure(self) -> None:
        raise Boom

    def later(self, value: int) -> Any:
        return self.background(self.slow_method(value))


class BlockingProxied(BlockingActor):
    def __init__(self) -> None:
        super().__init__()
        self.attribute = "ours"

    def method(self, value: int, *, factor: int = 1) -> int:
        return value * factor


@pytest.fixture
def plain() -> Iterator[pykka.ActorRef[PlainPlayer]]:
    """A plain pykka actor."""
    ref = PlainPlayer.start()
    yield ref
    ref.stop(timeout=LIMIT_S)


@pytest.fixture
def defaults() -> Iterator[None]:
    """The default system is there for one test only."""
    yield
    default_system().shutdown()


# -- plain actors and ours -------------------------------------------------------------------------


def test_a_plain_actor_tells_and_asks_one_of_ours(
    any_system: ActorSystem, plain: pykka.ActorRef[PlainPlayer]
) -> None:
    ref, heard = any_system.spawn(Player), list[str]()
    plain.ask(lambda _: ref.tell(lambda _: heard.append("told")), timeout=LIMIT_S)
    answer = plain.ask(lambda _: ref.ask(lambda _: "asked", timeout=LIMIT_S), timeout=LIMIT_S)
    later = plain.ask(
        lambda _: ref.ask(lambda _: "later", block=False).get(timeout=LIMIT_S), timeout=LIMIT_S
    )
    assert (heard, answer, later) == (["told"], "asked", "later")


def test_one_of_ours_tells_and_asks_a_plain_actor(
    any_system: ActorSystem, plain: pykka.ActorRef[PlainPlayer]
) -> None:
    heard: list[str] = []

    async def use(_: Any) -> Any:
        plain.tell(lambda _: heard.append("told"))
        return await as_reply(plain.ask(lambda _: "asked", block=False))

    assert any_system.spawn(Player).ask(use, timeout=LIMIT_S) == "asked"
    assert heard == ["told"]


def test_errors_cross_both_ways(system: ActorSystem, plain: pykka.ActorRef[PlainPlayer]) -> None:
    ref = system.spawn(Player)

    def fail(_: Any) -> None:
        raise Boom

    with pytest.raises(Boom):
        plain.ask(lambda _: ref.ask(fail, timeout=LIMIT_S), timeout=LIMIT_S)

    async def ask(_: Any) -> Any:
        return await as_reply(plain.ask(fail, block=False))

    with pytest.raises(Boom):
        ref.ask(ask, timeout=LIMIT_S)


def test_each_stops_the_other(system: ActorSystem) -> None:
    ref, plain = system.spawn(Player), PlainPlayer.start()
    assert plain.ask(lambda _: ref.stop(timeout=LIMIT_S), timeout=LIMIT_S)
    assert not ref.is_alive()
    other = system.spawn(Player)
    stopped = other.ask(lambda _: plain.stop(block=False), timeout=LIMIT_S)
    assert stopped.get(timeout=LIMIT_S)
    assert not plain.is_alive()


def test_messages_to_the_dead_raise_pykkas_own_error(
    system: ActorSystem, plain: pykka.ActorRef[PlainPlayer]
) -> None:
    ref = system.spawn(Player)
    ref.stop(timeout=LIMIT_S)
    with pytest.raises(pykka.ActorDeadError):
        plain.ask(lambda _: ref.tell(1), timeout=LIMIT_S)
    with pytest.raises(pykka.ActorDeadError):
        ref.proxy()


def test_a_plain_actor_in_a_ring_is_outside_the_graph_and_needs_a_timeout(
    system: ActorSystem, plain: pykka.ActorRef[PlainPlayer]
) -> None:
    ref = system.spawn(Player)

    def ask_back(_: Any) -> Any:
        with pytest.raises(Timeout):
            ref.ask(lambda _: "never", timeout=0.05)
        return "gave up"

    async def ask(_: Any) -> Any:
        return await as_reply(plain.ask(ask_back, block=False))

    assert ref.ask(ask, timeout=LIMIT_S) == "gave up"


# -- proxies ---------------------------------------------------------------------------------------


def use_proxy(proxy: Any) -> list[Any]:
    """Everything a proxy can do, from a thread that may block."""
    seen: list[Any] = [proxy.attribute.get(timeout=LIMIT_S)]
    proxy.attribute = "changed"
    seen.append(proxy.attribute.get(timeout=LIMIT_S))
    seen.append(proxy.method(3, factor=5).get(timeout=LIMIT_S))
    proxy.method.defer(1)
    return seen


@pytest.mark.parametrize("kind", [Proxied, BlockingProxied])
def test_a_proxy_reaches_attributes_and_methods_from_a_thread_and_a_plain_actor(
    any_system: ActorSystem, plain: pykka.ActorRef[PlainPlayer], kind: type[Actor]
) -> None:
    expected = ["ours", "changed", 15]
    proxy: Any = any_system.spawn(kind).proxy()
    assert use_proxy(proxy) == expected
    other: Any = any_system.spawn(kind).proxy()
    assert plain.ask(lambda _: use_proxy(other), timeout=LIMIT_S) == expected


def test_a_proxy_awaits_async_methods_and_background_answers(any_system: ActorSystem) -> None:
    proxy: Any = any_system.spawn(Proxied).proxy()
    assert proxy.slow_method(7).get(timeout=LIMIT_S) == 7
    assert proxy.later(8).get(timeout=LIMIT_S) == 8
    with pytest.raises(Boom):
        proxy.slow_failure().get(timeout=LIMIT_S)
    with pytest.raises(Boom):
        proxy.failure().get(timeout=LIMIT_S)


def test_a_proxy_goes_into_traversable_attributes_and_not_into_private_ones(
    system: ActorSystem,
) -> None:
    proxy: Any = system.spawn(Proxied).proxy()
    assert proxy.playback.seek(5).get(timeout=LIMIT_S) == 5
    assert proxy.playback.position.get(timeout=LIMIT_S) == 5
    proxy.playback.position = 9
    assert proxy.playback.position.get(timeout=LIMIT_S) == 9
    with pytest.raises(AttributeError):
        _ = proxy._private
    with pytest.raises(AttributeError):
        _ = proxy.nothing


def test_a_proxy_is_awaited_in_an_async_handler_and_refused_where_it_would_block(
    any_system: ActorSystem,
) -> None:
    proxy: Any = any_system.spawn(Proxied).proxy()

    async def use(_: Any) -> Any:
        with pytest.raises(BlockingCallOnLoop):
            proxy.attribute = "blocks"
        with pytest.raises(BlockingCallOnLoop):
            proxy.attribute.get()
        return await proxy.method(2, factor=2)

    assert any_system.spawn(Player).ask(use, timeout=LIMIT_S) == 4


def test_a_proxy_of_oneself_is_a_ring_when_awaited(system: ActorSystem) -> None:
    async def use_own(self: Any) -> Any:
        return await self.actor_ref.proxy().label

    class Labelled(Player):
        label = "mine"

    with pytest.raises(AskCycle):
        system.spawn(Labelled).ask(use_own, timeout=LIMIT_S)


def test_a_plain_actors_proxy_works_in_ours(
    system: ActorSystem, plain: pykka.ActorRef[PlainPlayer]
) -> None:
    proxy: Any = plain.proxy()

    async def use(_: Any) -> Any:
        return [await as_reply(proxy.attribute), await as_reply(proxy.method(1))]

    assert system.spawn(Player).ask(use, timeout=LIMIT_S) == ["theirs", 2]


def test_a_proxy_stays_usable_over_a_restart(system: ActorSystem) -> None:
    class Fragile(Proxied):
        expected_errors = ()

    ref = system.spawn(Supervisor).start_child(ChildSpec(Fragile))
    proxy: Any = ref.proxy()
    proxy.attribute = "changed"
    with pytest.raises(Boom):
        proxy.failure().get(timeout=LIMIT_S)
    assert proxy.attribute.get(timeout=LIMIT_S) == "ours"


# -- futures ---------------------------------------------------------------------------------------


def test_get_all_joins_and_maps_mix_plain_futures_with_ours(
    system: ActorSystem, plain: pykka.ActorRef[PlainPlayer]
) -> None:
    ref = system.spawn(Player)
    ours = ref.ask(lambda _: [1, 2, 3], block=False)
    theirs = plain.ask(lambda _: [4, 5], block=False)
    assert pykka.get_all([ours, theirs], timeout=LIMIT_S) == [[1, 2, 3], [4, 5]]
    assert ours.join(theirs).map(lambda lists: [*lists[0], *lists[1]]).get(timeout=LIMIT_S) == [
        *[1, 2, 3],
        *[4, 5],
    ]
    assert theirs.join(ours).reduce(lambda a, b: a + b).get(timeout=LIMIT_S) == [4, 5, 1, 2, 3]
    assert ours.filter(lambda n: n > 1).get(timeout=LIMIT_S) == [2, 3]
    assert ours.reduce(lambda a, b: a + b, 10).get(timeout=LIMIT_S) == 16


def test_our_replies_are_awaited_in_an_event_loop_of_the_main_thread(
    any_system: ActorSystem,
) -> None:
    proxy: Any = any_system.spawn(Proxied).proxy()
    ref = any_system.spawn(Echo)

    async def main() -> list[Any]:
        first = await ref.ask("one", block=False)
        rest = await asyncio.gather(proxy.method(2), proxy.slow_method(3), ref.aask(4))
        return [first, *rest]

    assert asyncio.run(main()) == ["one", 2, 3, 4]


def test_a_reply_is_a_pykka_future(system: ActorSystem) -> None:
    reply = system.spawn(Echo).ask(1, block=False)
    assert isinstance(reply, pykka.Future)
    assert isinstance(Echo._create_future(), Reply)


# -- the registry ----------------------------------------------------------------------------------


@pytest.mark.parametrize("block", [True, False])
def test_stop_all_stops_plain_actors_and_whole_systems(block: bool) -> None:
    notes: list[str] = []

    class Notes(Player):
        def on_stop(self) -> None:
            notes.append("stopped")

    plain = PlainPlayer.start()
    with ActorSystem("one") as one, ActorSystem("two") as two:
        for system in (one, two):
            system.spawn(Notes).ask(lambda _: None, timeout=LIMIT_S)
        results: Any = pykka.ActorRegistry.stop_all(block=block, timeout=LIMIT_S)
        if not block:
            results = pykka.get_all(results, timeout=LIMIT_S)
        assert results == [True, True, True]
        until(lambda: one.ended and two.ended)
    assert notes == ["stopped", "stopped"]
    assert not plain.is_alive()
    assert pykka.ActorRegistry.get_all() == []


def test_only_the_root_of_a_system_is_registered(system: ActorSystem) -> None:
    for _ in range(10):
        system.spawn(Echo)
    assert pykka.ActorRegistry.get_all() == [system.root]


# -- pykka's own habits ----------------------------------------------------------------------------


def test_start_uses_a_default_system_that_is_made_again_after_its_end(defaults: None) -> None:
    ref = Echo.start()
    assert ref.ask(1, timeout=LIMIT_S) == 1
    assert ref in default_system().registry.all()
    pykka.ActorRegistry.stop_all(timeout=LIMIT_S)
    assert not ref.is_alive()
    again = Echo.start()
    assert again.ask(2, timeout=LIMIT_S) == 2


def test_start_passes_every_argument_on(defaults: None) -> None:
    class Takes(Actor):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__()
            self.got = (args, kwargs)

        def on_receive(self, message: Any) -> Any:
            return self.got

    taken = Takes.start(1, 2, name="a name", supervisor="mine").ask(0, timeout=LIMIT_S)
    assert taken == ((1, 2), {"name": "a name", "supervisor": "mine"})


def test_an_error_in_init_reaches_the_caller_of_start(defaults: None) -> None:
    class Bad(Actor):
        def __init__(self) -> None:
            raise Boom

    with pytest.raises(Boom):
        Bad.start()


def test_a_failure_of_a_told_message_calls_on_failure_and_not_on_stop(defaults: None) -> None:
    calls: list[Any] = []

    class Hooked(Player):
        def on_stop(self) -> None:
            calls.append("stop")

        def on_failure(self, exception_type: Any, exception_value: Any, traceback: Any) -> None:
            calls.append((exception_type, str(exception_value), traceback is not None))

    def fail(_: Any) -> None:
        raise Boom("x")

    ref = Hooked.start()
    ref.tell(fail)
    until(lambda: not ref.is_alive())
    until(lambda: calls != [])
    assert calls == [(Boom, "x", True)]


def test_an_error_of_an_asked_message_stops_nobody(defaults: None) -> None:
    ref = Player.start()

    def fail(_: Any) -> None:
        raise Boom

    with pytest.raises(Boom):
        ref.ask(fail, timeout=LIMIT_S)
    assert ref.ask(lambda _: "alive", timeout=LIMIT_S) == "alive"


def test_stop_handles_what_was_told_before_it_and_says_whether_it_stopped(
    defaults: None,
) -> None:
    heard: list[int] = []
    ref = Player.start()
    for number in range(100):
        ref.tell(lambda _, number=number: heard.append(number))
    assert ref.stop() is True
    assert ref.stop() is False
    assert heard == list(range(100))


def test_stop_with_a_timeout_raises_when_it_runs_out(defaults: None) -> None:
    held = Held()
    ref = Player.start()
    ref.tell(held.awork)
    with pytest.raises(pykka.Timeout):
        ref.stop(timeout=0.01)
    held.release()


def test_actors_stop_themselves_and_know_their_ref(defaults: None) -> None:
    ref = Player.start()
    assert ref.ask(lambda self: self.actor_ref, timeout=LIMIT_S) == ref
    assert ref.ask(lambda self: self.actor_urn, timeout=LIMIT_S) == ref.actor_urn
    ref.tell(lambda self: self.stop())
    until(lambda: not ref.is_alive())


def test_an_unexpected_message_is_logged_and_answered_with_none(
    defaults: None, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assert Actor.start().ask("?", timeout=LIMIT_S) is None
    assert "unexpected_message" in caplog.text


def test_an_ask_with_a_timeout_raises_pykkas_timeout(defaults: None) -> None:
    held = Held()
    ref = Player.start()
    with pytest.raises(pykka.Timeout):
        ref.ask(held.awork, timeout=0.01)
    held.release()


def test_the_asker_of_a_stopped_actor_is_answered_where_pykka_would_leave_it(
    defaults: None,
) -> None:
    ref = Strict.start()
    held = Held()
    ref.tell(held.awork)
    held.wait()
    asked = ref.ask(lambda _: 1, block=False)
    ref.stop(block=False, mode="now")
    with pytest.raises(ActorDeadError):
        asked.get(timeout=LIMIT_S)
    held.release()
