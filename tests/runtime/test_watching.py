"""Watches: told once, told of the dead, ended with the incarnation, and nothing kept alive by them."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

from runtime import ActorRef, ActorSystem, ChildSpec, MisuseError, Supervisor, Terminated
from tests.runtime.players import LIMIT_S, Boom, Echo, Held, Player, Strict, fail, until


class Watcher(Strict):
    """Notes what it is told; functions are done."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[Any] = []

    def on_receive(self, message: Any) -> Any:
        if isinstance(message, Terminated):
            self.told.append((message.ref, message.reason))
            return None
        return super().on_receive(message)


def watch(watcher: ActorRef[Any], *targets: ActorRef[Any]) -> None:
    """Have the watcher watch, and wait until it does."""
    for target in targets:
        watcher.ask(lambda self, target=target: self.watch(target), timeout=LIMIT_S)


def told(watcher: ActorRef[Any]) -> list[Any]:
    """What the watcher was told."""
    notices: list[Any] = watcher.ask(lambda self: list(self.told), timeout=LIMIT_S)
    return notices


def until_told(watcher: ActorRef[Any], count: int) -> list[Any]:
    """Wait until the watcher was told so often."""
    until(lambda: len(told(watcher)) >= count)
    return told(watcher)


def test_a_watcher_is_told_of_every_kind_of_end(any_system: ActorSystem) -> None:
    watcher = any_system.spawn(Watcher)
    stopped, ended, failed = (any_system.spawn(Player) for _ in range(3))
    watch(watcher, stopped, ended, failed)
    stopped.stop(timeout=LIMIT_S)
    ended.tell(lambda self: self.stop())
    failed.tell(fail())
    reasons = dict(until_told(watcher, 3))
    assert reasons[stopped] == "shutdown"
    assert reasons[ended] == "normal"
    assert isinstance(reasons[failed], Boom)


def test_a_watch_of_the_already_dead_is_told_at_once(any_system: ActorSystem) -> None:
    watcher, dead = any_system.spawn(Watcher), any_system.spawn(Player)
    dead.stop(timeout=LIMIT_S)
    watch(watcher, dead)
    assert until_told(watcher, 1) == [(dead, "shutdown")]


def test_watching_twice_is_told_once_and_again_after_a_new_watch(system: ActorSystem) -> None:
    watcher, target = system.spawn(Watcher), system.spawn(Player)
    watch(watcher, target, target)
    target.stop(timeout=LIMIT_S)
    until_told(watcher, 1)
    assert len(told(watcher)) == 1
    watch(watcher, target)
    assert len(until_told(watcher, 2)) == 2


def test_a_restart_is_not_an_end(system: ActorSystem) -> None:
    watcher = system.spawn(Watcher)
    child = system.spawn(Supervisor).start_child(ChildSpec(Strict))
    watch(watcher, child)
    child.tell(fail())
    child.ask(lambda _: "back", timeout=LIMIT_S)
    assert told(watcher) == []
    child.stop(timeout=LIMIT_S)
    assert until_told(watcher, 1) == [(child, "shutdown")]


def test_a_watch_taken_back_is_not_told(system: ActorSystem) -> None:
    watcher, target = system.spawn(Watcher), system.spawn(Player)
    watch(watcher, target)
    watcher.ask(lambda self: self.unwatch(target), timeout=LIMIT_S)
    target.stop(timeout=LIMIT_S)
    assert told(watcher) == []


def test_a_watch_ends_with_its_incarnation(system: ActorSystem) -> None:
    watcher = system.spawn(Supervisor).start_child(ChildSpec(Watcher))
    target = system.spawn(Player)
    watch(watcher, target)
    watcher.tell(fail())
    assert told(watcher) == []
    cell: Any = target._cell
    assert not cell.watchers
    target.stop(timeout=LIMIT_S)
    assert told(watcher) == []


def test_a_notice_that_waits_does_not_reach_the_next_incarnation(system: ActorSystem) -> None:
    watcher = system.spawn(Supervisor).start_child(ChildSpec(Watcher))
    target, held = system.spawn(Player), Held()
    watch(watcher, target)
    watcher.tell(held.awork)
    held.wait()
    watcher.tell(fail())
    target.stop(timeout=LIMIT_S)
    held.release()
    assert told(watcher) == []


def test_an_actor_stops_although_its_watcher_has_stopped_before(any_system: ActorSystem) -> None:
    watcher, target = any_system.spawn(Watcher), any_system.spawn(Player)
    watch(watcher, target)
    watcher.stop(timeout=LIMIT_S)
    assert target.stop(timeout=LIMIT_S)


def test_actors_of_two_systems_watch_each_other(system: ActorSystem) -> None:
    with ActorSystem("other") as other:
        watcher, target = system.spawn(Watcher), other.spawn(Player)
        watch(watcher, target)
        other.spawn(Player).ask(lambda _: None, timeout=LIMIT_S)
        target.stop(timeout=LIMIT_S)
        assert until_told(watcher, 1) == [(target, "shutdown")]
        late = other.spawn(Player)
        watch(watcher, late)
        other.spawn(Player).ask(lambda _: None, timeout=LIMIT_S)
    assert until_told(watcher, 2)[1] == (late, "shutdown")
    watch(watcher, late)
    assert until_told(watcher, 3)[2] == (late, "shutdown")


def test_a_system_that_has_ended_keeps_no_watched_actor_of_another_from_stopping(
    system: ActorSystem,
) -> None:
    with ActorSystem("other") as other:
        watcher, target = other.spawn(Watcher), system.spawn(Player)
        watch(watcher, target)
        system.spawn(Player).ask(lambda _: None, timeout=LIMIT_S)
    assert target.stop(timeout=LIMIT_S)


def test_the_long_lived_keep_nothing_of_the_short_lived_they_watch_or_are_watched_by(
    system: ActorSystem,
) -> None:
    constant = system.spawn(Watcher)
    gone: list[weakref.ref[Any]] = []
    for _ in range(20):
        brief = system.spawn(Watcher)
        watch(brief, constant)
        watch(constant, brief)
        gone.append(weakref.ref(brief._cell))
        brief.stop(timeout=LIMIT_S)
        del brief
    until_told(constant, 20)
    constant.ask(lambda self: self.told.clear(), timeout=LIMIT_S)
    gc.collect()
    assert [one for one in gone if one() is not None] == []


def test_only_refs_of_this_runtime_can_be_watched(system: ActorSystem) -> None:
    with pytest.raises(MisuseError, match="ref of a greenroom actor"):
        system.spawn(Player).ask(lambda self: self.watch("somebody"), timeout=LIMIT_S)


def test_a_notice_shows_what_it_says(system: ActorSystem) -> None:
    ref = system.spawn(Echo, name="gone")
    assert repr(Terminated(ref, "normal")) == "Terminated(<ActorRef /user/gone>, 'normal')"
