"""How an incarnation begins: the instance, its first hooks, and what follows if one of them raises.

An actor whose hooks are plain functions starts at once, without a task. Runs on the loop thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from functools import partial
from types import CoroutineType
from typing import Any, NamedTuple

from runtime.ending import start_failed
from runtime.errors import ActorDeadError, MisuseError
from runtime.events import ActorRestarted, ActorStarted
from runtime.life import Life
from runtime.ref import ActorRef
from runtime.reply import Reply


def launch(life: Life, reason: Any = None) -> None:
    """Begin an incarnation: the first one, or after `reason` a later one."""
    life.state = "starting"
    life.as_self(_begin, life, reason)


def launched(life: Life, reason: Any = None) -> Reply[ActorRef[Any]]:
    """`launch`, and a reply with the ref once it runs, or with `ChildStartError`."""
    reply: Reply[ActorRef[Any]] = Reply(life)
    life.start_replies = [reply] if life.start_replies is None else [*life.start_replies, reply]
    launch(life, reason)
    return reply


def _begin(life: Life, reason: Any) -> None:
    try:
        opened = life.performer.call(_open, life, reason)
    except Exception as error:  # noqa: BLE001 - the supervisor decides
        start_failed(life, error)
    except BaseException as error:  # noqa: BLE001 - an interrupt stops this system, not the loop
        life.interrupted(error)
        start_failed(life, error)
    else:
        if type(opened) is CoroutineType:
            life.busy_with(opened, partial(_opened_elsewhere, life, reason))
            return
        life.instance = opened.instance
        if opened.pending is None:
            _started(life, reason)
        else:
            life.busy_with(_go_on(opened), partial(_begun, life, reason))


class _Opened(NamedTuple):
    """An instance and the coroutine its first hooks came to; `on_start` is still to be called or not."""

    instance: Any
    pending: Coroutine[Any, Any, Any] | None
    start_left: bool


def _open(life: Life, reason: Any) -> _Opened:
    """Make the instance and run its first hooks, until one of them is async."""
    instance = life.make_instance() if life.instance is None else life.instance
    if reason is not None:
        pending = instance.on_restart(reason)
        if type(pending) is CoroutineType:
            return _Opened(instance, pending, start_left=True)
    pending = instance.on_start()
    return _Opened(instance, pending if type(pending) is CoroutineType else None, start_left=False)


async def _go_on(opened: _Opened) -> None:
    if opened.pending is not None:
        await opened.pending
    if opened.start_left:
        pending = opened.instance.on_start()
        if type(pending) is CoroutineType:
            await pending


def no_coroutines() -> MisuseError:
    """The error for `async def` where plain functions are run."""
    return MisuseError(
        "a BlockingActor's handlers and hooks are plain functions; `async def` runs on the loop"
    )


def _opened_elsewhere(life: Life, reason: Any, task: asyncio.Future[Any]) -> None:
    """On the loop: the hooks have run on another thread. Only here the instance becomes the actor's, so
    that a thread which was given up cannot set it later."""
    if not task.cancelled() and task.exception() is None:
        opened = task.result()
        if opened.pending is not None:
            opened.pending.close()
            if life.busy is task:
                life.busy = None
                start_failed(life, no_coroutines())
            return
        if life.busy is task:
            life.instance = opened.instance
    _begun(life, reason, task)


def _begun(life: Life, reason: Any, task: asyncio.Future[Any]) -> None:
    error: BaseException | None = (
        ActorDeadError("stopped while starting") if task.cancelled() else task.exception()
    )
    if life.busy is not task:
        return  # given up meanwhile
    life.busy = None
    if error is not None and not isinstance(error, Exception):
        life.interrupted(error)
    if error is None:
        _started(life, reason)
    else:
        start_failed(life, error)


def _started(life: Life, reason: Any) -> None:
    life.state = "running"
    events = life.host.events
    if events.wants(ActorStarted):
        events.publish(ActorStarted(life.path, life.incarnation))
    if reason is not None and events.wants(ActorRestarted):
        events.publish(ActorRestarted(life.path, life.incarnation, reason))
    life.answer_start(None)
    if life.exit is not None or life.control or life.mailbox:
        life.schedule()
