"""Watches: who is told that an actor has ended. Both sides remember a watch, so that neither keeps the other.

The watched actor holds its watchers with the incarnation that watches; the watcher's belongings hold what
it watches, and give it back when the incarnation ends. The two may live in different systems: each
function says on whose loop thread it runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runtime.actor import Terminated
from runtime.delivery import open_mailbox
from runtime.errors import SystemEnded
from runtime.life import Life
from runtime.mailbox import WatchNotice


def start_watch(watcher: Life, target: Life, incarnation: int) -> None:
    """Have the incarnation told when `target` ends, at once if it has; on the watcher's loop."""
    if watcher.incarnation != incarnation or watcher.state not in ("starting", "running"):
        return
    watched = watcher.belonging().watched
    if target in watched:
        return
    watched.add(target)
    if not _reach(watcher, target, _add_watcher, target, watcher, incarnation):
        _take_notice(watcher, target, incarnation, "shutdown")


def end_watch(watcher: Life, target: Life) -> None:
    """Take one watch back; on the watcher's loop."""
    if watcher.belongings is not None and target in watcher.belongings.watched:
        watcher.belongings.watched.discard(target)
        _reach(watcher, target, _remove_watcher, target, watcher, watcher.incarnation)


def end_watches(watcher: Life) -> None:
    """The incarnation ends: take all its watches back; on the watcher's loop."""
    if watcher.belongings is not None:
        for target in list(watcher.belongings.watched):
            end_watch(watcher, target)


def tell_watchers(target: Life, reason: Any) -> None:
    """The actor has ended for good; on its loop, or from anywhere once that has ended."""
    watchers, target.watchers = target.watchers, None
    for watcher, incarnation in (watchers or {}).items():
        _reach(target, watcher, _take_notice, watcher, target, incarnation, reason)


def _add_watcher(target: Life, watcher: Life, incarnation: int) -> None:
    if target.state == "stopped":
        _reach(target, watcher, _take_notice, watcher, target, incarnation, "shutdown")
        return
    if target.watchers is None:
        target.watchers = {}
    target.watchers[watcher] = incarnation


def _remove_watcher(target: Life, watcher: Life, incarnation: int) -> None:
    if target.watchers is not None and target.watchers.get(watcher) == incarnation:
        del target.watchers[watcher]


def _take_notice(watcher: Life, target: Life, incarnation: int, reason: Any) -> None:
    """Put the notice before the incarnation that watched; on the watcher's loop."""
    if watcher.incarnation != incarnation or watcher.belongings is None:
        return
    if target not in watcher.belongings.watched:
        return
    watcher.belongings.watched.discard(target)
    mailbox = open_mailbox(watcher) if watcher.mailbox is None else watcher.mailbox
    if mailbox.force(WatchNotice(Terminated(target.ref, reason), incarnation)) == "kept":
        watcher.schedule()


def _reach(here: Life, there: Life, function: Callable[..., None], *args: Any) -> bool:
    """Call on the loop of `there`: at once if it is this one. False if that system has ended."""
    if there.host is here.host and here.host.loop_thread.here():
        function(*args)
        return True
    try:
        there.host.loop_thread.post(function, *args)
    except SystemEnded:
        return False
    return True
