"""How an incarnation begins: the instance, its first hooks, and what follows if one of them raises.

An actor whose hooks are plain functions starts at once, without a task. Runs on the loop thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from types import CoroutineType
from typing import Any

from runtime.ending import start_failed
from runtime.errors import ActorDeadError
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
        pending = life.performer.call(_open, life, reason)
    except Exception as error:  # noqa: BLE001 - the supervisor decides
        start_failed(life, error)
    except BaseException as error:  # noqa: BLE001 - an interrupt stops this system, not the loop
        life.interrupted(error)
        start_failed(life, error)
    else:
        if pending is None:
            _started(life, reason)
        else:
            life.busy_with(pending, lambda task: _begun(life, task, reason))


def _open(life: Life, reason: Any) -> Coroutine[Any, Any, None] | None:
    """Make the instance and run its first hooks; a coroutine if one of them is async."""
    if life.instance is None:
        life.instance = life.make_instance()
    if reason is not None:
        pending = life.instance.on_restart(reason)
        if type(pending) is CoroutineType:
            return _open_slowly(life, pending)
    pending = life.instance.on_start()
    return pending if type(pending) is CoroutineType else None


async def _open_slowly(life: Life, restarting: Coroutine[Any, Any, None]) -> None:
    await restarting
    pending = life.instance.on_start()
    if type(pending) is CoroutineType:
        await pending


def _begun(life: Life, task: asyncio.Future[Any], reason: Any) -> None:
    if life.busy is not task:
        return  # given up meanwhile
    life.busy = None
    error: BaseException | None = (
        ActorDeadError("stopped while starting") if task.cancelled() else task.exception()
    )
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
